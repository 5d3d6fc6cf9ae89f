import { sha256 } from '../../log/ids.ts'
import type { Workspace } from '../../ports/index.ts'
import type { Call } from '../call.ts'
import { type SeenFile, storedFile } from '../question-hash.ts'

/** The current state of a file: its content as a question refers to it, and its bytes if readable. */
export interface ReadNow {
  readonly content: SeenFile['content']
  readonly bytes: Uint8Array | null
  readonly fault?: string
}

/** Reads a file for a question to a person. Never rejects: a file that cannot be read is `unreadable`. */
export async function readNow(workspace: Pick<Workspace, 'read'>, path: string): Promise<ReadNow> {
  try {
    const bytes = await workspace.read(path)
    return { content: sha256(bytes), bytes }
  } catch (error) {
    const absent = (error as { code?: unknown }).code === 'RESOURCE_NOT_FOUND'
    return absent
      ? { content: 'absent', bytes: null }
      : { content: 'unreadable', bytes: null, fault: (error as Error).message }
  }
}

/** Why an approved call must not run: a file that was shown to the approver has changed. Null: none has. */
export async function changedSinceApproval(
  workspace: Workspace | null,
  call: Call,
  salt: string,
): Promise<string | null> {
  for (const { path, content } of workspace === null ? [] : (call.approvedFiles ?? [])) {
    const { content: now } = storedFile(salt, { path, content: (await readNow(workspace!, path)).content })
    if (now === content) continue
    const how = now === 'absent' ? 'was removed' : content === 'absent' ? 'was created' : 'was changed'
    return `${JSON.stringify(path)} ${how} after the approval`
  }
  return null
}
