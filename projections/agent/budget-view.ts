// `agent_budgets`: the budget account of each agent in its tree, equal to the account in its state
// (domain/agent/state/budget-account.ts); a property test compares the two. For each kind of budget, the agent's grant covers
// spent + reserved + uncertain.

/** A fork inherits unchanged members (-1) from its source. */
const given = (column: string) => `(with recursive up(amount, source) as (
    select a.${column}, a.forked_from
    union all
    select s.${column}, s.forked_from from up join agents s on s.id = up.source where up.amount = -1)
  select amount from up where amount is null or amount <> -1 limit 1)`

const changes = (column: string, kind: string) =>
  `coalesce((select sum(c.${column}) from budget_changes c where c.agent_id = a.id and c.kind = '${kind}'), 0)`

/** The parent knows no end of the child, and the birth was not refused. */
const OPEN = `n.ended_revision is null and not exists (
    select 1 from bounces b where b.agent_id = n.agent_id and b.revision = n.revision)`

const reserved = (column: string) =>
  `coalesce((select sum(c.${column}) from budget_changes c
    join children n on n.agent_id = c.agent_id and n.child_id = c.child_id
    where c.agent_id = a.id and c.kind = 'granted' and ${OPEN}), 0)`

const own = (sum: string) => `coalesce((select sum(${sum}) from model_calls m where m.agent_id = a.id), 0)`

/** The usage that a late answer to an abandoned attempt may add to its estimate. */
const late = (most: string, billed: string) =>
  own(`case when m.status = 'lost' and ${most} > ${billed} then ${most} - ${billed} else 0 end`)

const TOKENS = 'm.input + m.cache_read + m.cache_write + m.output'

interface Kind {
  readonly name: string
  readonly own: string
  readonly late: string
}

const KINDS: readonly Kind[] = [
  { name: 'tokens', own: own(TOKENS), late: late('m.most_tokens', `(${TOKENS})`) },
  {
    name: 'nano_dollars',
    own: own('m.nano_dollars'),
    late: late('m.most_nano_dollars', 'coalesce(m.nano_dollars, 0)'),
  },
  { name: 'agents', own: '1', late: '0' },
]

const columns = ({ name, own, late }: Kind) => `
    ${given(`budget_${name}`)} + ${changes(name, 'received')} as budget_${name},
    ${own} + ${changes(name, 'settled')} as spent_${name},
    ${reserved(name)} as reserved_${name},
    ${late} + ${changes(`uncertain_${name}`, 'settled')} as uncertain_${name}`

/** `budget_*` null: no limit. */
export const budgetView = `create view agent_budgets as select a.id, a.run_id, ${KINDS.map(columns).join(',')}
  from agents a`
