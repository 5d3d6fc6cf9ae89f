/** What kind of thing an event tells, which gives it its colour. */
export type Tone = 'person' | 'model' | 'tool' | 'rule' | 'end' | 'bad' | 'other'

const TONES: readonly (readonly [RegExp, Tone])[] = [
  [/^(?:user_input|approval_decided|tool_call_resolved|standing_approval|paused|resumed|cancel)/, 'person'],
  [/^(?:error|tool_call_unknown|tool_call_retry|model_attempt_lost|loss)/, 'bad'],
  [/^model_/, 'model'],
  [/^(?:tool_|context_set|artifact|workspace|late_outcome)/, 'tool'],
  [/^(?:approval|gate|phase|recovery|policy|prompt_set|tools_changed)/, 'rule'],
  [/^(?:completion|turn_|agent_started|forked)/, 'end'],
]

export const toneOf = (type: string): Tone => TONES.find(([pattern]) => pattern.test(type))?.[1] ?? 'other'
