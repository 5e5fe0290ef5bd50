// Entry point: walkers' paths.
#include <math.h>
#include <stdlib.h>
#include "entries.hpp"
#include "exact.hpp"

// The cheapest path over a grid of costs, from its first column to its last, by dynamic programming.
extern "C" __attribute__((visibility("default"))) int64_t find_path(const FindPath* in)
{
    int64_t columns = in->columns, rows = in->rows, swerve = in->swerve, row = in->row;
    const double* prices = in->prices; // of a change by one row; of a sidestep; the share of the cost of being there
    double* cheapest = (double*)malloc(columns * rows * (sizeof(double) + sizeof(int64_t))); // from here to the last column
    if (!cheapest) return NO_MEMORY;
    int64_t* change = (int64_t*)(cheapest + columns * rows); // of row, to the next column
    for (int64_t i = 0; i < columns * rows; i++) cheapest[i] = in->cost[i], change[i] = 0;
    for (int64_t k = columns - 2; k >= 0; k--)
        for (int64_t r = 0; r < rows; r++) {
            double smallest = INFINITY;
            for (int64_t c = most(-swerve, -r); c <= least(swerve, rows - 1 - r); c++) {
                double price = prices[0] * (double)c * (double)c + cheapest[(k + 1) * rows + r + c];
                if (price < smallest) smallest = price, change[k * rows + r] = c;
            }
            cheapest[k * rows + r] += smallest;
        }
    int64_t* taken = in->taken;
    double smallest = cheapest[row];
    taken[0] = row;
    for (int64_t side = -1; side <= 1; side += 2) {
        double sidestep = 0;
        for (int64_t r = row + side; r >= 0 && r < rows; r += side) {
            sidestep += prices[1] + prices[2] * in->cost[r];
            if (sidestep + cheapest[r] < smallest) smallest = sidestep + cheapest[r], taken[0] = r;
        }
    }
    for (int64_t k = 0; k < columns - 1; k++) taken[k + 1] = taken[k] + change[k * rows + taken[k]];
    free(cheapest);
    return 0;
}
