import { join } from 'node:path'
import { readRoles } from '../../../adapters/files/roles/read-roles.ts'
import { definitionOf, type KnownNames, type RoleFile } from '../../../domain/agent/definition/role-file-schema.ts'
import { ROLES } from '../../../domain/agent/definition/roles.ts'
import { KNOWN_NAMES } from '../../../domain/agent/rules/admission.ts'
import type { Tool } from '../../../domain/ports/index.ts'
import type { KnownRoles } from '../../operations/definitions/roles.ts'
import type { Config } from '../config/settings.ts'

/** The folder of the user's roles. */
export const rolesFolder = ({ roles, data }: Pick<Config, 'roles' | 'data'>): string => roles ?? join(data, 'roles')

/** Stands for the file of a role of the embedding program. */
const PROGRAM = 'openKeepUp'

/** The names that a role file may use in this deployment. `tools`: the embedding program's tools. */
export const namesFor = ({ mcp }: Pick<Config, 'mcp'>, tools: readonly Tool[] = []): KnownNames => ({
  tools: [...new Set([...KNOWN_NAMES, ...tools.map(({ spec }) => spec.name)])],
  servers: Object.keys(mcp),
})

/**
 * The roles of the folder, those of the embedding program (`given`), which take the place of a file's role of the same
 * name, and the built-in roles whose names none of these use. A faulty file takes the
 * name too: the built-in role, which may do more, must not run in its place. Each call reads the folder, so a
 * changed file counts from the next run on.
 */
export async function knownRoles(
  config: Config,
  tools: readonly Tool[],
  given: readonly RoleFile[] = [],
): Promise<KnownRoles> {
  const { roles: files, faults, faulty } = await readRoles(rolesFolder(config), namesFor(config, tools))
  const roles = new Map([...files, ...given.map((role) => [role.name, { file: PROGRAM, role }] as const)])
  const builtIn = Object.entries(ROLES)
    .filter(([name]) => !roles.has(name) && !faulty.has(name))
    .map(([name, definition]) => ({
      ...{ name, file: null, definition, model: null, wallClockMs: null },
    }))
  const own = [...roles.values()].map(({ file, role }) => ({
    name: role.name,
    file,
    definition: definitionOf(role),
    model: role.model ?? null,
    wallClockMs: role.limits.wallClockMs ?? null,
  }))
  return { roles: [...builtIn, ...own], faults }
}
