import type { SecretGrant } from './destinations.ts'

/** The text form of a grant, as `grantOf` reads it. */
export function grantText({ name, server, host, command }: SecretGrant): string {
  if (server !== undefined) return `${name}=@server:${server}`
  if (host !== undefined) return `${name}=@host:${host}`
  return command === undefined ? name : `${name}=@command:${command}`
}
