/* The loop of shifts without traffic, on the tables of the compiled kernels, to compare their speed with. It takes the
 * same decisions, bit for bit. Positions in the tables come as macros from the command line's header. Measurement only.
 */
#include <math.h>
#include <stdint.h>

typedef int64_t i64;
#define INTS(table, k) ((i64 *)(intptr_t)(table)[4 * (k)])
#define FLOATS(table, k) ((double *)(intptr_t)(table)[4 * (k)])
#define MARKS(table, k) ((uint8_t *)(intptr_t)(table)[4 * (k)])
#define WIDE(table, k) ((table)[4 * (k) + 2])
#define LENGTH(table, k) ((table)[4 * (k) + 1])

static inline uint64_t draw(uint64_t *random) {
    uint64_t x = random[0];
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    random[0] = x;
    return x * 2685821657736338717ULL;
}
static inline double uniform(uint64_t *random) { return (double)(draw(random) >> 11) * (1.0 / 9007199254740992.0); }
static inline i64 below(uint64_t *random, i64 number) {
    return (i64)(((draw(random) >> 33) * (uint64_t)number) >> 31);
}

static inline double response_of(double root, i64 used, i64 whole, double unit) {
    if (root <= 1e-12) return 0.0;
    double spare = (double)(whole - used) * unit, least = 1e-3 * (double)whole * unit;
    if (spare < least) return root * root / least + STARVED * (least - spare);
    return root * root / spare;
}

static int roomy(const i64 *p, const i64 *s, i64 item, i64 node, i64 option) {
    const i64 *sizes = INTS(p, P_SIZES), *need = INTS(p, P_NEED), *limit = INTS(p, P_LIMIT);
    const i64 *use = INTS(s, S_USE), *held = INTS(s, S_HELD);
    i64 columns = sizes[COLUMNS];
    if (!MARKS(p, P_ELIGIBLE)[option * WIDE(p, P_ELIGIBLE) + node]) return 0;
    i64 row = option * sizes[KINDS] + INTS(p, P_KIND)[node], leaf = INTS(p, P_LEAF)[node];
    int home = INTS(p, P_CURRENT)[item] == node;
    for (i64 c = 0; c < columns; c++) {
        i64 more = need[row * columns + c];
        if (more > 0 && use[leaf * columns + c] + held[leaf * columns + c] + more > limit[leaf * columns + c] &&
            !(home && MARKS(p, P_HOLDS)[c]))
            return 0;
    }
    return 1;
}

static int fits(const i64 *p, const i64 *s, i64 item, i64 node, i64 option) {
    const i64 *sizes = INTS(p, P_SIZES), *need = INTS(p, P_NEED), *limit = INTS(p, P_LIMIT);
    const i64 *use = INTS(s, S_USE), *held = INTS(s, S_HELD), *start = INTS(p, P_AREA_START), *area = INTS(p, P_AREA);
    i64 columns = sizes[COLUMNS], kinds = sizes[KINDS], kind = INTS(p, P_KIND)[node], row = option * kinds + kind;
    if (!MARKS(p, P_ELIGIBLE)[option * WIDE(p, P_ELIGIBLE) + node]) return 0;
    i64 origin = INTS(p, P_CURRENT)[item];
    int home = origin == node;
    for (i64 q = start[node]; q < start[node + 1]; q++) {
        i64 d = area[q];
        if (MARKS(p, P_CLOSED)[d] && !(origin >= 0 && INTS(p, P_FIRST)[d] <= origin && origin < INTS(p, P_END)[d]))
            return 0;
        for (i64 c = 0; c < columns; c++) {
            i64 more = need[row * columns + c];
            if (more > 0) {
                if (home && MARKS(p, P_HOLDS)[c])
                    more -= need[(INTS(p, P_CURRENT_OPTION)[item] * kinds + kind) * columns + c];
                if (use[d * columns + c] + held[d * columns + c] + more > limit[d * columns + c]) return 0;
            }
        }
    }
    return 1;
}

static double response_cost(const i64 *p, const i64 *s, i64 node) {
    i64 columns = INTS(p, P_SIZES)[COLUMNS], leaf = INTS(p, P_LEAF)[node], c = INTS(p, P_STABLE_COLUMN)[node];
    return response_of(FLOATS(s, S_ROOT)[node], INTS(s, S_USE)[leaf * columns + c],
                       INTS(p, P_SOFT)[leaf * columns + c], FLOATS(p, P_UNIT_OF_SHARE)[node]);
}

static void relist(const i64 *s, i64 item, i64 node, i64 sign) {
    i64 *first_on = INTS(s, S_FIRST_ON), *next_on = INTS(s, S_NEXT_ON), *last_on = INTS(s, S_LAST_ON);
    i64 *left_at = INTS(s, S_LEFT_AT), *left = INTS(s, S_LEFT), *totals = INTS(s, S_TOTALS);
    if (sign > 0) {
        i64 head = first_on[node];
        next_on[item] = head;
        last_on[item] = -1;
        if (head >= 0) last_on[head] = item;
        first_on[node] = item;
        INTS(s, S_WHERE)[item] = node;
        i64 position = left_at[item], number = totals[LEFT] - 1, last = left[number];
        left[position] = last, left[number] = item;
        left_at[last] = position, left_at[item] = number;
        totals[LEFT] = number;
    } else {
        i64 before = last_on[item], after = next_on[item];
        if (before >= 0) next_on[before] = after;
        else first_on[node] = after;
        if (after >= 0) last_on[after] = before;
        INTS(s, S_WHERE)[item] = -1;
        i64 position = left_at[item], number = totals[LEFT], other = left[number];
        left[number] = item, left[position] = other;
        left_at[item] = number, left_at[other] = position;
        totals[LEFT] = number + 1;
    }
}

static void change(const i64 *p, const i64 *s, i64 item, i64 node, i64 option, i64 sign) {
    const i64 *sizes = INTS(p, P_SIZES), *level_of = INTS(p, P_LEVEL_OF), *need = INTS(p, P_NEED);
    const i64 *soft = INTS(p, P_SOFT), *start = INTS(p, P_AREA_START), *area = INTS(p, P_AREA);
    const double *soft_weight = FLOATS(p, P_SOFT_WEIGHT);
    i64 *use = INTS(s, S_USE), columns = sizes[COLUMNS];
    double *values = FLOATS(s, S_VALUES), weight = FLOATS(p, P_SCALARS)[P99_WEIGHT];
    i64 row = option * sizes[KINDS] + INTS(p, P_KIND)[node], w = INTS(p, P_WORKLOAD)[item];
    if (sizes[FLAGS] & P99) values[level_of[GOAL_P99]] -= weight * response_cost(p, s, node);
    for (i64 q = start[node]; q < start[node + 1]; q++) {
        i64 d = area[q];
        for (i64 c = 0; c < columns; c++) {
            i64 more = need[row * columns + c];
            if (more != 0) {
                i64 old = use[d * columns + c], now = old + sign * more;
                use[d * columns + c] = now;
                if (soft_weight[d * columns + c] != 0.0) {
                    i64 a = now - soft[d * columns + c], b = old - soft[d * columns + c];
                    values[INTS(p, P_SOFT_LEVEL)[c]] +=
                        soft_weight[d * columns + c] * (double)((a > 0 ? a : 0) - (b > 0 ? b : 0));
                }
            }
        }
    }
    if (sizes[FLAGS] & P99) {
        FLOATS(s, S_ROOT)[node] += (double)sign * FLOATS(p, P_ROOT_NEED)[row];
        values[level_of[GOAL_P99]] += weight * response_cost(p, s, node);
    }
    INTS(s, S_MEMBERS)[node] += sign;
    if (level_of[GOAL_PLACED] >= 0) values[level_of[GOAL_PLACED]] -= (double)sign * FLOATS(p, P_VALUE)[w];
    values[0] -= (double)sign * FLOATS(p, P_SIZE)[w];
    relist(s, item, node, sign);
    INTS(s, S_OPTION)[item] = option;
}

static i64 broken(const i64 *p, const i64 *s) {
    const i64 *totals = INTS(s, S_TOTALS), *most = INTS(p, P_MOST_MOVES);
    i64 moved = totals[MOVED] - most[0], bytes = totals[BYTES] - most[1];
    return totals[UNSPREAD] + totals[UNMET] + totals[SPLIT] + (moved > 0 ? moved : 0) + (bytes > 0 ? bytes : 0);
}

/* What a shift adds to a level, from the domains that it touches. */
static double price(const i64 *p, const i64 *s, const i64 *steps, i64 level) {
    const i64 *sizes = INTS(p, P_SIZES), *level_of = INTS(p, P_LEVEL_OF), *need = INTS(p, P_NEED);
    const i64 *start = INTS(p, P_AREA_START), *area = INTS(p, P_AREA), *use = INTS(s, S_USE), *soft = INTS(p, P_SOFT);
    const double *soft_weight = FLOATS(p, P_SOFT_WEIGHT);
    i64 *touched = INTS(s, S_TOUCHED), *net = INTS(s, S_NET), columns = sizes[COLUMNS], count = 0;
    double *root_net = FLOATS(s, S_ROOT_NET), total = 0.0;
    for (i64 i = 0; i < 2; i++) {
        i64 item = steps[4 * i], node = steps[4 * i + 1], option = steps[4 * i + 2], sign = steps[4 * i + 3];
        i64 row = option * sizes[KINDS] + INTS(p, P_KIND)[node];
        for (i64 q = start[node]; q < start[node + 1]; q++) {
            i64 d = area[q], k = 0;
            while (k < count && touched[k] != d) k++;
            if (k == count) {
                if (count == LENGTH(s, S_TOUCHED)) return UNKNOWN;
                touched[k] = d;
                root_net[k] = 0.0;
                for (i64 c = 0; c < columns; c++) net[k * columns + c] = 0;
                count++;
            }
            for (i64 c = 0; c < columns; c++) net[k * columns + c] += sign * need[row * columns + c];
            if ((sizes[FLAGS] & P99) && q == start[node]) root_net[k] += (double)sign * FLOATS(p, P_ROOT_NEED)[row];
        }
        if (level_of[GOAL_PLACED] == level)
            total -= (double)sign * FLOATS(p, P_VALUE)[INTS(p, P_WORKLOAD)[item]];
    }
    for (i64 k = 0; k < count; k++) {
        i64 d = touched[k];
        double here = 0.0;
        for (i64 c = 0; c < columns; c++) {
            i64 more = net[k * columns + c];
            if (more != 0 && soft_weight[d * columns + c] != 0.0 && INTS(p, P_SOFT_LEVEL)[c] == level) {
                i64 old = use[d * columns + c] - soft[d * columns + c], now = old + more;
                here += soft_weight[d * columns + c] * (double)((now > 0 ? now : 0) - (old > 0 ? old : 0));
            }
        }
        total += here;
    }
    if ((sizes[FLAGS] & P99) && level_of[GOAL_P99] == level)
        for (i64 k = 0; k < count; k++)
            for (i64 i = 0; i < 2; i++) {
                i64 node = steps[4 * i + 1], d = touched[k];
                if (INTS(p, P_LEAF)[node] != d) continue;
                i64 c = INTS(p, P_STABLE_COLUMN)[node];
                double unit = FLOATS(p, P_UNIT_OF_SHARE)[node], root = FLOATS(s, S_ROOT)[node];
                double old = response_of(root, use[d * columns + c], soft[d * columns + c], unit);
                i64 more = use[d * columns + c] + net[k * columns + c];
                double now = response_of(root + root_net[k], more, soft[d * columns + c], unit);
                total += FLOATS(p, P_SCALARS)[P99_WEIGHT] * (now - old);
                break;
            }
    return total;
}

void walk(const i64 *p, const i64 *s, i64 level, const double *caps, double heat, i64 rounds, i64 *counts,
          i64 num_moves) {
    const i64 *sizes = INTS(p, P_SIZES);
    double *values = FLOATS(s, S_VALUES), *saved = FLOATS(s, S_SAVED);
    i64 *steps = INTS(s, S_STEPS), num_levels = LENGTH(s, S_VALUES);
    uint64_t *random = (uint64_t *)INTS(s, S_RANDOM);
    i64 *where = INTS(s, S_WHERE), *options = INTS(s, S_OPTION);
    const i64 *first_option = INTS(p, P_FIRST_OPTION);
    for (i64 round = 0; round < rounds; round++) {
        (void)uniform(random); /* which kind of move */
        i64 item = below(random, sizes[ITEMS]), here = where[item], found = -1, option = -1;
        counts[0]++;
        if (here >= 0) {
            i64 w = INTS(p, P_WORKLOAD)[item], number = first_option[w + 1] - first_option[w];
            option = options[item];
            if (number > 1 && uniform(random) >= 0.7) option = first_option[w] + below(random, number);
            for (int look = 0; look < 4 && found < 0; look++) {
                i64 node = below(random, sizes[NODES]);
                if ((node != here || option != options[item]) && (node == here || roomy(p, s, item, node, option)))
                    found = node;
            }
        }
        if (found < 0) continue;
        i64 written[8] = {item, here, options[item], -1, item, found, option, 1};
        for (int i = 0; i < 8; i++) steps[i] = written[i];
        double dice = uniform(random), cold = -log(dice > 1e-300 ? dice : 1e-300);
        double bar = (cold < 30.0 ? cold : 30.0) * heat;
        if (level > 0) {
            double worse = price(p, s, steps, level), size = fabs(values[level]);
            if (worse > bar && worse > NEGLIGIBLE * (size > 1.0 ? size : 1.0)) continue;
        }
        for (i64 v = 0; v < num_levels; v++) saved[v] = values[v];
        i64 law = broken(p, s), was = options[item];
        change(p, s, item, here, was, -1);
        int taken = 0;
        if (fits(p, s, item, found, option)) {
            change(p, s, item, found, option, 1);
            counts[num_moves]++;
            double worse = values[level] - saved[level];
            i64 law_now = broken(p, s);
            int ok = 1;
            if (level == 0) worse += (double)(law_now - law);
            else {
                ok = law_now <= law;
                for (i64 v = 0; v < level; v++)
                    if (values[v] > caps[v]) ok = 0;
            }
            if (ok && worse > 0.0) ok = worse <= bar;
            if (ok) {
                taken = 1;
                counts[2 * num_moves]++;
                if (worse < 0.0) counts[3 * num_moves]++;
            } else change(p, s, item, found, option, -1);
        }
        if (!taken) {
            change(p, s, item, here, was, 1);
            for (i64 v = 0; v < num_levels; v++) values[v] = saved[v];
        }
    }
}
