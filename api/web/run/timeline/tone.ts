import { isFailure } from '../../../cli/output/event-text.ts'
import type { EventView } from '../../../operations/events/schemas.ts'

/** The kind of an event, which decides its colour. */
export type Tone = 'person' | 'model' | 'tool' | 'rule' | 'end' | 'bad' | 'other'

const TONES: readonly (readonly [RegExp, Tone])[] = [
  [
    /^(?:user_input|(?:approval|permission)_decided|tool_call_resolved|standing_approval|paused|resumed|cancel)/,
    'person',
  ],
  [/^(?:error|tool_call_unknown|tool_call_retry|model_attempt_lost|loss)/, 'bad'],
  [/^(?:model_|agent_events)/, 'model'],
  [/^(?:tool_|context_set|artifact|workspace|late_outcome)/, 'tool'],
  [/^(?:approval|permission|gate|phase|recovery|policy|prompt_set|tools_changed)/, 'rule'],
  [/^(?:completion|turn_|agent_started|forked|external_)/, 'end'],
]

/** `event`: absent while it is loading. */
export function toneOf(type: string, event?: Pick<EventView, 'payload'>): Tone {
  if (type === 'tool_call_end' && event?.payload && isFailure(event.payload)) return 'bad'
  return TONES.find(([pattern]) => pattern.test(type))?.[1] ?? 'other'
}
