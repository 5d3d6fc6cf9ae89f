import { open, writeFile } from 'node:fs/promises'
import { platformOf } from '../../domain/platform.ts'

/**
 * Writes a new file that only this user can read. When the promise resolves, the bytes are durable, but the name is
 * not.
 */
export const writeDurably = (path: string, bytes: Uint8Array | string): Promise<void> =>
  writeFile(path, bytes, { flag: 'wx', mode: 0o600, flush: true })

/** Makes the names in a folder durable. See `syncFolder` for Windows. */
export async function syncNames(folder: string): Promise<void> {
  if (!platformOf(process.platform).opensFolders) return
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}
