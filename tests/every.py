"""One test over many cases, which names those that fail."""


def for_every(cases):
    """A test that runs a check on every case, an argument or a tuple of them, and lists those that fail."""
    cases = [case if isinstance(case, tuple) else (case,) for case in cases]
    assert cases

    def decorate(check):
        def test():
            failures = []
            for case in cases:
                try:
                    check(*case)
                except Exception as error:
                    failures.append(f"{case}: {error!r}")
            assert not failures, f"{len(failures)} of {len(cases)} fail:\n" + "\n".join(failures)

        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        return test

    return decorate
