import { closeSync, constants as fsConstants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { ModelError } from '../../../domain/calls/errors.ts'
import { jsonFault } from '../../../domain/log/json-fault.ts'
import { liesIn } from '../../files/inside.ts'
import { parseScript, type Script } from './script.ts'

/** The largest script file, in bytes. */
export const MAX_SCRIPT_BYTES = 16 * 1024 * 1024

/**
 * Reads a script file. Throws ModelError SCRIPT_INVALID if the file cannot be read, is in the folder `hidden`, or is
 * not a script. A user may name any path, so the message never quotes a file that is not JSON. `names`: the program's
 * own scripts, for the message.
 */
export function loadScript(path: string, hidden?: string, names: readonly string[] = []): Script {
  const text = readText(path, hidden, names)
  const fault = jsonFault(text)
  if (fault) throw invalid(path, `is not JSON: line ${fault.line}, column ${fault.column}: expected ${fault.expected}`)
  return parseScript(JSON.parse(text), path)
}

function readText(path: string, hidden: string | undefined, names: readonly string[]): string {
  try {
    if (hidden !== undefined && liesIn(realpathSync(hidden), realpathSync(path)))
      throw invalid(path, 'lies in the data folder, which no model may read; keep scripts elsewhere')
    // Without O_NONBLOCK, opening a pipe would block until it has a writer.
    const file = openSync(path, fsConstants.O_RDONLY | fsConstants.O_NONBLOCK)
    try {
      if (!fstatSync(file).isFile()) throw invalid(path, 'is not a regular file; give the path of a JSON file')
      return readBounded(file, path).toString('utf8')
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (error instanceof ModelError) throw error
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error'
    const or = names.length === 0 ? '' : `, or one of the names in "scripts": ${names.join(', ')}`
    throw invalid(path, `cannot be read (${code}); give the path of a JSON file${or}`)
  }
}

/** Reads to the end, because files of /proc report no size. */
function readBounded(file: number, path: string): Buffer {
  const chunks: Buffer[] = []
  let size = 0
  for (;;) {
    const chunk = Buffer.alloc(256 * 1024)
    const read = readSync(file, chunk)
    if (read === 0) return Buffer.concat(chunks)
    size += read
    if (size > MAX_SCRIPT_BYTES) throw invalid(path, `has more than ${MAX_SCRIPT_BYTES} bytes; name a smaller file`)
    chunks.push(chunk.subarray(0, read))
  }
}

const invalid = (path: string, why: string): ModelError => new ModelError('SCRIPT_INVALID', `the script ${path} ${why}`)
