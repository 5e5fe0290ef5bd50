# docker build -t simtown .  then  docker run --rm -v "$PWD:/data" simtown generate --n 400 --out town
FROM python:3.13-slim AS build
COPY . /src
WORKDIR /src
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --require-hashes --no-deps -r requirements/demo.txt
RUN SIMTOWN_LEVELS=all /venv/bin/pip install --no-deps --no-build-isolation . && /venv/bin/pip uninstall --yes ziglang
FROM python:3.13-slim
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH
WORKDIR /data
ENTRYPOINT ["simtown"]
