import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { KnownNames, RoleFile } from '../../../domain/agent/definition/role-file-schema.ts'
import { MAX_ROLE_FILE, parseRole, RoleFileError } from './parse-role.ts'

/** The roles of a folder by name, and a message for each unusable file. */
export interface RolesRead {
  readonly roles: ReadonlyMap<string, { readonly file: string; readonly role: RoleFile }>
  readonly faults: readonly string[]
  /** The names of the roles that faulty files would give: by their `name`, else by the file's name. */
  readonly faulty: ReadonlySet<string>
}

/** Reads every `*.json` of a folder in the order of the names. A missing folder has no roles. */
export async function readRoles(folder: string, known: KnownNames): Promise<RolesRead> {
  const roles = new Map<string, { file: string; role: RoleFile }>()
  const faults: string[] = []
  const faulty = new Set<string>()
  for (const name of await filesOf(folder)) {
    const file = join(folder, name)
    let text = ''
    try {
      text = await textOf(file)
      const role = parseRole(text, file, known)
      const other = roles.get(role.name)
      if (other !== undefined) throw new RoleFileError(file, `name: ${other.file} is called "${role.name}" too`)
      roles.set(role.name, { file, role })
    } catch (error) {
      faulty.add(nameIn(text) ?? basename(name, '.json'))
      faults.push(error instanceof RoleFileError ? error.message : `${file}: ${(error as Error).message}`)
    }
  }
  return { roles, faults, faulty }
}

function nameIn(text: string): string | null {
  try {
    const { name } = JSON.parse(text) as { name?: unknown }
    return typeof name === 'string' ? name : null
  } catch {
    return null
  }
}

async function filesOf(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()
  } catch (error) {
    if (!existsSync(folder)) return []
    throw error
  }
}

async function textOf(file: string): Promise<string> {
  const found = await stat(file)
  // Reading a pipe would block every start of a run.
  if (!found.isFile()) throw new RoleFileError(file, 'it is no file with a content of its own; remove it')
  const { size } = found
  if (size > MAX_ROLE_FILE * 4) throw new RoleFileError(file, `it is longer than ${MAX_ROLE_FILE} characters`)
  return readFile(file, 'utf8')
}
