
/* ---- parts of modes ---- */

/* Modes that are remembered at a time. */
#ifndef SALTUS_KEYS
#define SALTUS_KEYS 256
#endif
#define N_KEYS SALTUS_KEYS
#define N_MODES SALTUS_KEYS

/* A condition: where it is, whether it has no memory, which variables it reads (their number first). */
typedef struct { uint32_t slot; int memoryless; const short *reads; } saltus_condition;

/* An entry of the restart equations of a part, and a product in one of them: with the orders of derivatives. */
typedef struct { int row, var, order; uint32_t slot; double sign; } saltus_part_entry;
typedef struct { int row, a, order_a, b, order_b; } saltus_part_product;

/* A part of modes: the lists of conditions (their number, then 2 * condition + value) under which it stands, equations and
   variables in the order of a block triangular form, what it reads of others, its units and states. */
typedef struct {
    int cubes, n, reads, unit, units, states, cells, latent, blocks, entries, products;
    const short *const *cube;
    const short *equation, *var, *read;
    const int *c, *d, *block, *stage;
    const saltus_memory *state, *late;
    const double *nominal;
    const uint32_t *cell;
    const uint32_t *const *level;
    const saltus_part_entry *entry;
    const saltus_part_product *product;
    void (*evaluate)(double *v);
} saltus_part;

/* What is computed together: slots read and written; of discrete variables 1: present values alone, 2: a when-equation; the slot of
   a relation that is searched for. */
struct NAME;
typedef struct {
    int reads, writes, varies, kind, self;
    const uint32_t *read, *write;
    uint32_t bit;
    int (*run)(struct NAME *m, double *v);
} saltus_unit;

/* The modes known now, and the present one. */
typedef struct {
    int keys, made, restart_made, parts, units, continuous, loop;
    unsigned char key[N_KEYS][N_CONDITIONS + 1], known[N_KEYS], guarded[N_CONDITIONS + 1], guarding[N_CONDITIONS + 1];
    short count[N_KEYS], list[N_KEYS][N_PRESENT + 1], order[N_PRESENT + 1], owner[N_VARS + 1], column[N_VARS + 1];
    short unit[N_PLACES + 1], event[N_PLACES + 1], size[N_PLACES + 1], writer[N_VALUES];
    unsigned char early[N_PLACES + 1], touched[N_VALUES], active[N_RELATIONS + 1];
    saltus_mode mode;
    saltus_memory state[N_STATES + 1], late[N_LATENT + 1];
    uint32_t cell[N_CELLS + 1], slot[N_DISCRETE + 1], bit[N_DISCRETE + 1], unknown[N_CELLS + 1];
    int stage[N_STATES + 1], target[N_RESETS + 1];
    double nominal[N_STATES + 1];
    saltus_restart restart;
    int c[N_VARS + 1], highest[N_VARS + 1], block[N_VARS + 1];
    saltus_entry entry[N_ENTRIES + 1], push[N_PUSHES + 1];
    uint32_t value[N_STAGES * N_VARS + 1], level[N_STAGES * N_VARS + 1];
    saltus_product product[N_PRODUCTS + 1];
} saltus_assembly;

/* Tarjan's search for loops (1972). */
typedef struct {
    int counter, top, found, index[N_PLACES + 1], low[N_PLACES + 1];
    short stack[N_PLACES + 1], out[N_PLACES + 1], size[N_PLACES + 1];
    unsigned char on[N_PLACES + 1], in[N_PLACES + 1];
} saltus_visit;
