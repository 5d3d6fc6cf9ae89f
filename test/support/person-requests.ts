import type { UserCommand } from '../../domain/agent/decide/commands.ts'
import type { Call } from '../../domain/calls/call.ts'
import type { PersonRequest } from './plans.ts'

/** The command of a person who sees the open calls and the outside world; null: no command applies. */
export function commandOf(
  request: PersonRequest,
  open: readonly Call[],
  happened: (call: Call) => boolean,
): UserCommand | null {
  const waiting = open.find((call) => call.stage.at === 'approval')
  const doubtful = open.find((call) => call.stage.at === 'doubt')
  const commands: Record<PersonRequest, UserCommand | null> = {
    input: { kind: 'input', text: 'one more thing' },
    pause: { kind: 'pause' },
    resume: { kind: 'resume' },
    step: { kind: 'step' },
    cancel: { kind: 'cancel', deadlineMs: 2_000 },
    approve: waiting ? { kind: 'decide_approval', toolCallId: waiting.id, decision: 'approved' } : null,
    reject: waiting ? { kind: 'decide_approval', toolCallId: waiting.id, decision: 'rejected' } : null,
    standing: { kind: 'standing_approval', tools: ['put'] },
    // People check before they answer: "run it" is only for calls that have not happened.
    happened: doubtful ? { kind: 'resolve_doubt', toolCallId: doubtful.id, decision: 'happened' } : null,
    run: doubtful && !happened(doubtful) ? { kind: 'resolve_doubt', toolCallId: doubtful.id, decision: 'run' } : null,
    abandon: doubtful ? { kind: 'resolve_doubt', toolCallId: doubtful.id, decision: 'abandon' } : null,
  }
  return commands[request]
}
