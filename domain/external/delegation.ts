import type { Rights } from '../tree/spec.ts'
import type { Extensions } from './extensions.ts'

/**
 * One way to start a backend: the agent's rights, and the extensions that enforce them. Without `commands`, nothing in
 * the folder may start a program: hooks, servers and plugins of a folder also count as commands. Then the agent also has
 * no web tools and no MCP servers, because the rules of the parent do not apply to them.
 */
export interface RightsLevel {
  readonly grants: Rights
  readonly extensions: Extensions
}
