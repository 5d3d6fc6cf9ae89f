import type { Coverage } from '../../operations/schemas.ts'

/** How far heads cover events; "not signed": there are no heads. */
export function covered(proof: Coverage | null): string {
  if (proof === null) return 'not signed'
  const parts = [
    [proof.anchored.events, 'anchored'],
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
