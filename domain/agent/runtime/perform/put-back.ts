import type { Call } from '../../../calls/call.ts'
import type { Environment } from '../../../ports/runtime.ts'
import type { AgentState } from '../../state/state.ts'

/**
 * Restores the files of a recorded tree in the fork's own workspace. Null: restored; otherwise the reason. Does not
 * overwrite changes by others, unless a lost driver may have left the restore half done.
 */
export async function putBack(
  { workspace }: Environment,
  { tree: before }: AgentState,
  { lost }: Call,
  tree: string,
): Promise<string | null> {
  if (tree === before && lost === 0) return null
  if (workspace === null) return 'the workspace could not be had'
  const { versions } = workspace
  try {
    const found = await versions.snapshot()
    if (found === tree) return null
    if (before !== null && found !== before && lost === 0)
      return 'the files of the workspace are not those of the record'
    await versions.restore(tree)
    return (await versions.snapshot()) === tree ? null : NOT_PUT_BACK
  } catch {
    return NOT_PUT_BACK
  }
}

const NOT_PUT_BACK = 'the recorded files could not be put back as they were'
