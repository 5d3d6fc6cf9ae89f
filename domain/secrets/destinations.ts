import { z } from 'zod'
import { WHOLE_REFERENCE } from './reference.ts'

/**
 * A reference to a secret that tools may receive. The spec never contains the value. The value is looked up when a tool
 * runs, so that a replaced value takes effect. `server`: only tools of this server receive the value; absent: only
 * built-in tools.
 */
export const GivenSecret = z.strictObject({
  name: z.string().min(1),
  reference: z.string().regex(WHOLE_REFERENCE),
  server: z.string().min(1).optional(),
})
export type GivenSecret = z.infer<typeof GivenSecret>

/** Tools that send their arguments to addresses outside this machine. No grant applies to them. */
const SENDS_AWAY: ReadonlySet<string> = new Set(['read_url', 'search_web'])

/** Whether a tool sends its arguments to an address outside this machine that no person named. */
export const sendsAway = (toolName: string): boolean => SENDS_AWAY.has(toolName)

/** The server in a tool's name `server:tool`; null: the tool is built in. */
export const serverOf = (toolName: string): string | null => {
  const at = toolName.indexOf(':')
  return at < 0 ? null : toolName.slice(0, at)
}

/** The grants that apply to a tool: those of its server; for a built-in tool, those without one (seed 000, 5.12.5). */
export const grantsFor = (secrets: readonly GivenSecret[], toolName: string): readonly GivenSecret[] =>
  sendsAway(toolName) ? [] : secrets.filter(({ server = null }) => server === serverOf(toolName))

/** The text form of a grant: `NAME`, or `NAME=@server:SERVER`. */
export const GRANT = /^(?<name>[^=]+)(?:=@server:(?<server>[a-z][a-z0-9_]*))?$/

export const grantText = ({ name, server }: Pick<GivenSecret, 'name' | 'server'>): string =>
  server === undefined ? name : `${name}=@server:${server}`
