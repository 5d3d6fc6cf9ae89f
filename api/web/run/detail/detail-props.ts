import type { AgentModel } from '../agent-model.ts'
import type { States } from '../states-at-position.ts'

/** The position of a run that the tabs show. */
export interface DetailProps {
  readonly runId: string
  readonly agent: AgentModel
  readonly place: number
  readonly states: States
}
