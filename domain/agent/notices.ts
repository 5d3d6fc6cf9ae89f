import { type EventNotice, shortLine } from '../stream/notice.ts'
import { totalTokens } from '../tree/money.ts'
import type { Budget } from '../tree/spec.ts'
import type { AgentEvent } from './events/events.ts'

// Notices of keepup's own agents. Only the root agent of a run has an end and a budget that a person set.

/** The part of a run's history that its notices need. */
export interface RunSummary {
  /** The first input, on one line. Null: there is none yet. */
  readonly task: string | null
  readonly budget: Budget
  readonly spent: { readonly tokens: number; readonly nanoDollars: number }
  /** The last notice about the budget. */
  readonly told: 'low' | 'used' | null
}

/** The types that {@link agentNotice} and {@link summarize} read. Bodies of other types need not be decoded. */
export const NOTICED: ReadonlySet<string> = new Set<AgentEvent['type']>([
  ...(['agent_started', 'forked', 'user_input', 'model_call_end', 'model_attempt_lost'] as const),
  ...(['child_ended', 'child_usage', 'approval_requested', 'tool_call_unknown', 'tool_call_end'] as const),
  ...(['recovery', 'completion', 'error'] as const),
])

/** The types that {@link summarize} reads, for a history that is read again. */
export const SUMMARIZED = [
  ...(['agent_started', 'forked', 'user_input', 'model_call_end', 'model_attempt_lost'] as const),
  ...(['child_ended', 'child_usage', 'recovery'] as const),
] as const

/** The share of a budget from which it is low. */
const LOW = 0.8
/** The longest first line of a task in a notice, in characters. */
export const LONGEST_TASK = 200

export const NOTHING_YET: RunSummary = {
  task: null,
  budget: { tokens: null, nanoDollars: null },
  spent: { tokens: 0, nanoDollars: 0 },
  told: null,
}

/**
 * The summary after an event of the run's root agent. A fork continues the summary of its source. The estimate of a lost
 * model call stays, also when its usage becomes known later.
 */
export function summarize(before: RunSummary, event: AgentEvent): RunSummary {
  const after = counted(before, event)
  const { tokens, nanoDollars } = after.budget
  const share = Math.max(
    tokens === null ? 0 : after.spent.tokens / tokens,
    nanoDollars === null ? 0 : after.spent.nanoDollars / nanoDollars,
  )
  const isUsed = share >= 1 || (event.type === 'recovery' && isBudgetWarning(event.body))
  if (isUsed) return { ...after, told: 'used' }
  return share >= LOW && after.told === null ? { ...after, told: 'low' } : after
}

const isBudgetWarning = (body: Extract<AgentEvent, { type: 'recovery' }>['body']) =>
  body.phase === 'final_warning' && body.reason === 'budget'

function counted(before: RunSummary, event: AgentEvent): RunSummary {
  const spend = (tokens: number, nanoDollars: number) => ({
    ...before,
    spent: { tokens: before.spent.tokens + tokens, nanoDollars: before.spent.nanoDollars + nanoDollars },
  })
  switch (event.type) {
    case 'agent_started':
      return { ...before, budget: event.body.spec.budget }
    case 'forked': {
      const { tokens = before.budget.tokens, nanoDollars = before.budget.nanoDollars } = event.body.changes.budget ?? {}
      return { ...before, budget: { tokens, nanoDollars }, told: null }
    }
    case 'user_input':
      return before.task === null ? { ...before, task: shortLine(event.body.text, LONGEST_TASK) } : before
    case 'model_call_end':
    case 'model_attempt_lost':
      return spend(totalTokens(event.body.usage), event.body.nanoDollars ?? 0)
    case 'child_ended':
    case 'child_usage': {
      const { spent } = event.body.report
      return spend(totalTokens(spent), spent.nanoDollars)
    }
    default:
      return before
  }
}

/**
 * The notice of an event; null: none. `summaries`: those of the run before and after the event, for events of its root
 * agent.
 */
export function agentNotice(
  event: AgentEvent,
  summaries: { readonly before: RunSummary; readonly after: RunSummary } | null,
): EventNotice | null {
  switch (event.type) {
    case 'approval_requested':
      return { type: 'approval_asked', title: `${shortLine(event.body.toolName)} waits for an approval` }
    case 'tool_call_unknown':
      return event.body.reused === undefined
        ? { type: 'outcome_unknown', title: 'A call was cut off; say whether it happened' }
        : null
    case 'tool_call_end':
      return event.body.toolName === 'ask_user' && event.body.success
        ? { type: 'question_asked', title: 'An agent asks a question' }
        : null
    default:
      return summaries === null ? null : (endNotice(event) ?? budgetNotice(summaries))
  }
}

function endNotice(event: AgentEvent): EventNotice | null {
  if (event.type === 'completion') return { type: 'run_ended', title: 'The run is done' }
  if (event.type === 'error' && !event.body.recoverable)
    return { type: 'run_ended', title: `The run ended with ${shortLine(event.body.code)}` }
  return null
}

function budgetNotice({ before, after }: { readonly before: RunSummary; readonly after: RunSummary }) {
  if (after.told === before.told || after.told === null) return null
  return after.told === 'used'
    ? ({ type: 'budget_used', title: 'The budget of the run is used up' } as const)
    : ({ type: 'budget_low', title: 'The run has used 80 % of its budget' } as const)
}
