import type { Environment, RuntimePorts } from '../../../ports/runtime.ts'
import type { EndRestore } from '../../decide/commands.ts'
import type { AgentState } from '../../state/state.ts'

/**
 * Finishes a restore whose process was lost before its end was recorded, so that no agent works on files that are half put
 * back; null: there is none. Putting the same files back again changes nothing more.
 */
export async function finishRestore(
  { cache }: Pick<RuntimePorts, 'cache'>,
  { workspace, secrets }: Environment,
  { restoring = null }: AgentState,
): Promise<EndRestore | null> {
  if (restoring === null || workspace === null) return null
  const ended = { kind: 'restore_ended', restore: restoring.since } as const
  try {
    await workspace.versions.restore(restoring.tree)
    await cache?.clear()
    return { ...ended, outcome: 'restored' }
  } catch (error) {
    const { code = 'RESTORE_FAILED', message } = error as Error & { code?: string }
    return { ...ended, outcome: 'failed', error: { code: secrets.text(String(code)), message: secrets.text(message) } }
  }
}
