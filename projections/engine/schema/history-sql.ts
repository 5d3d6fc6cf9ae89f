/**
 * A subquery with the recursive table `h(id, upto, d)`: the parts of streams that form an agent's history at a
 * revision, its own (d = 0) and those that it inherits as a fork. `agent` and `revision`: SQL expressions of the outer
 * query, so one history costs no more than its depth of forks.
 */
export const historySql = (agent: string, revision: string) => `with recursive h(id, upto, d) as (
  select ${agent}, cast(${revision} as bigint), 0
  union all
  select a.forked_from, a.forked_revision, h.d + 1 from h join agents a on a.id = h.id where a.forked_from is not null)`
