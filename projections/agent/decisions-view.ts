import { historySql } from '../engine/schema/history-sql.ts'

/** SQL of a column of the first standing approval that contains the rule, in the agent's history. */
const standing = (column: string) => `(${historySql('r.agent_id', 'r.revision')}
    select s.${column} from h join standing_approvals s on s.agent_id = h.id and s.revision <= h.upto
    where replace(s.tools, '"' || r.rule || '"', '') <> s.tools order by h.d desc, s.revision limit 1)`

/** SQL of a column of the approval that gave the permission. */
const permitted = (column: string) => `(${historySql('r.agent_id', 'r.revision')}
    select p.${column} from h join approvals p on p.agent_id = h.id and p.decided_revision <= h.upto
    where p.tool_call_id = r.rule and p.status = 'approved' order by h.d limit 1)`

/**
 * `call_decisions`: how each call was decided. `principal`: the person, also the one who gave the standing approval or
 * the permission. `decision` undecided: the call or its agent ended before a decision.
 */
export const callDecisions = `create view call_decisions as
  select r.tool_call_id as call_id, r.run_id, r.agent_id, coalesce(r.tool_name, t.tool_name) as tool, t.effect,
    case when r.decision = 'pending' and (t.ended_at is not null or a.completed_at is not null) then 'undecided'
      else r.decision end as decision,
    r.method, r.rule,
    case r.method when 'standing_approval' then ${standing('by')}
      when 'permission' then ${permitted('decided_by')} else r.decided_by end as principal,
    coalesce(case r.method when 'standing_approval' then ${standing('claimed')}
      when 'permission' then ${permitted('decided_claimed')} else r.claimed end, 0) as claimed,
    r.policy_hash, r.shown_hash, coalesce(r.needed, 1) as needed, r.asked_at, r.decided_at, r.first_revision, r.position
  from decision_rows r
  left join tool_calls t on t.agent_id = r.agent_id and t.id = r.tool_call_id
  left join agents a on a.id = r.agent_id`
