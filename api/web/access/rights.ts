import type { Right } from '../../../domain/access/rights.ts'
import { take } from '../../http/answers.ts'
import { api } from '../client/api.ts'
import { useLoaded } from '../parts/loaded.tsx'

/**
 * The rights of this person. Null: not known yet. Ask for nothing that needs another right, because the log records each
 * refusal.
 */
export function useRights(): ReadonlySet<Right> | null {
  const me = useLoaded('me', () => take(api.v1.access.me.$get({})))
  return me !== null && 'value' in me ? new Set(me.value.rights as readonly Right[]) : null
}
