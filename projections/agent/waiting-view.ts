// The reasons why agents wait, in SQL about a row `a` of `agents`. The domain defines them for a state
// (domain/agent/decide/waiting.ts); a property test compares the two after every append.

/** The agent is paused. A stepping agent pauses only when its turn ends. */
export const PAUSED = '(coalesce(a.paused, 0) = 1 and coalesce(a.stepping, 0) = 0)'

/** The call in a row `t` of `tool_calls` has not ended. */
export const OPEN_CALL = "t.status in ('planned', 'started', 'waiting', 'running', 'retrying', 'unknown')"

/** The turn with the question has ended, and no input is newer than the inputs that the turn read. */
const WAITS_FOR_INPUT =
  'a.question_revision is not null and a.in_turn = 0 and coalesce(a.last_input, -1) <= coalesce(a.last_read, -1)'

const WAITS_FOR_MODEL = `a.model_outage = 1 and a.status = 'active' and not exists (
    select 1 from model_calls m where m.agent_id = a.id and m.turn = a.turn and m.status = 'running')`

/** Finished agents and agents under cancellation wait for nothing. */
const UNFINISHED = 'a.completed_at is null and a.cancel_requested_at is null'

const ofAgent = (reason: string, where: string) =>
  `select a.run_id, a.id as agent_id, '${reason}' as reason, null as tool_call_id from agents a
    where ${UNFINISHED} and ${where}`

const ofCall = (reason: string, table: string, id: string, where: string) =>
  `select a.run_id, a.id, '${reason}', t.${id} from ${table} t join agents a on a.id = t.agent_id
    where ${where} and ${UNFINISHED}`

/** `waiting`: a row for each reason why an agent waits, with the call that waits for an approval or a decision. */
export const waiting = `create view waiting as
  ${ofAgent('input', WAITS_FOR_INPUT)}
  union all
  ${ofAgent('pause', PAUSED)}
  union all
  ${ofAgent('model', WAITS_FOR_MODEL)}
  union all
  ${ofCall('approval', 'approvals', 'tool_call_id', "t.status = 'pending' and t.call_ended_at is null")}
  union all
  ${ofCall('doubt', 'tool_calls', 'id', "t.status = 'unknown'")}`
