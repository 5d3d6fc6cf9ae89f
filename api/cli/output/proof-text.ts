import type { BegunOrigin, LossAgainstHeads, VerifiedHeads } from '../../../domain/proof/runtime/verify-heads.ts'
import { counted } from '../../../projections/engine/text.ts'
import type { Coverage } from '../../operations/schemas.ts'
import { oneLine } from './text.ts'

/** How far heads cover events; "not signed": there are no heads. */
export function covered(proof: Coverage | null): string {
  if (proof === null) return 'not signed'
  const parts = [
    [proof.anchored.events, 'anchored'],
    [proof.recorded.events, 'recorded as anchored'],
    [proof.signed.events, 'signed'],
    [proof.chained.events, 'chained only'],
  ] as const
  return (
    parts
      .filter(([events]) => events > 0)
      .map(([events, state]) => `${events} ${state}`)
      .join(', ') || 'none'
  )
}

export const erasedLine = (one: {
  readonly revision: number
  readonly code: string
  readonly reason: string
}): string => `  revision ${one.revision} erased (${one.code}): ${one.reason}`

/** An accepted loss against the heads of before. */
export function lossLine({ by, at, reason, kept, head }: LossAgainstHeads): string {
  const why = reason === null ? '' : ` (${oneLine(reason)})`
  return `  a loss accepted by ${oneLine(by.id)} at ${at}${why}: ${counted(kept, 'event')} kept, ${goneText(kept, head)}`
}

function goneText(kept: number, head: LossAgainstHeads['head']): string {
  if (head === null) return 'no head knew more'
  if (head.size > kept) return `${head.name} knew ${head.size}: ${head.size - kept} are gone`
  return `but ${head.name} knew other ones: events of before the loss were changed too`
}

/** An origin that began without an accepted loss. No earlier key signed it. */
export const originLine = ({ origin, reason, at }: BegunOrigin): string[] =>
  reason === 'key_lost' || reason === 'heads_lost'
    ? [`  ${oneLine(origin)} began at ${at} without an accepted loss (${reason}): ask who lost ${LOST[reason]}`]
    : []

const LOST = { key_lost: 'the key before', heads_lost: 'the heads before' } as const

export const checkpointLine = ({ ok, origin, size }: NonNullable<VerifiedHeads['checkpoint']>): string =>
  `checkpoint: ${ok ? 'holds' : 'BROKEN'}, ${size === null ? 'unreadable' : counted(size, 'event')} of ${oneLine(origin ?? '?')}`
