import type { OperationCaller } from '../operation.ts'
import type { Services } from '../services.ts'

/**
 * Records who asks for an operation that leaves no other fact, before it is performed. Without access nothing is recorded,
 * because a name would only be claimed. `target`: a secret's name, or a folder.
 */
export async function recordRequest(
  s: Pick<Services, 'uses' | 'streams'>,
  { options: { identity } }: Pick<OperationCaller, 'options'>,
  operation: string,
  target: string | null = null,
): Promise<void> {
  if (identity === undefined) return
  const shown = target === null ? null : await s.streams.hide(target)
  await s.uses.requested({ principal: identity.principal, operation, target: shown })
}
