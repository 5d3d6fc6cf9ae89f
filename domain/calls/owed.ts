import { effectId } from '../log/ids.ts'
import type { Call } from './call.ts'

/** A running attempt of a call, which its driver must perform. */
export interface OwedTool {
  readonly kind: 'tool'
  readonly id: string
  readonly toolCallId: string
  readonly attempt: number
  readonly notBefore: number
}

/** The attempt that the driver of this epoch must perform; null: none. */
export function owedTool({ id, attempt, stage }: Call, epoch: number | undefined): OwedTool | null {
  if (stage.at !== 'running' || stage.epoch !== epoch) return null
  return { kind: 'tool', id: effectId(id, attempt), toolCallId: id, attempt, notBefore: stage.notBefore }
}
