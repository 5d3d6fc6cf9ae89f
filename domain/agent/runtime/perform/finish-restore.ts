import type { Environment, RuntimePorts } from '../../../ports/runtime.ts'
import type { EndRestore } from '../../decide/commands.ts'
import type { AgentState } from '../../state/state.ts'

/**
 * Finishes a restore whose process died, so that no agent works on partly restored files; null: none is open. Restoring
 * the same files again is idempotent.
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
