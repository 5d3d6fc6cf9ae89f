// What differs between SQLite and another database, and nothing else does. The rest is kysely and standard SQL.

/** Rows are found by their keys only; without a hidden row id a table is one tree, not two. */
export const tableSuffix = 'without rowid'

/** SQL of a JSON array of a subquery's column `item` (JSON itself), in the subquery's order; `[]` where there is none. */
export const jsonArray = (subquery: string) =>
  `coalesce((select json_group_array(json(item)) from (${subquery})), '[]')`
