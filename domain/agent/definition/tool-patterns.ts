const ALIASES: Readonly<Record<string, string>> = { file_write: 'write_file' }

/** The name that the log uses for a tool that a policy may name otherwise (CONTRACTS 0). */
export const canonicalTool = (name: string): string => ALIASES[name] ?? name

/** Does a pattern (`tool`, `server:*`, `*`) cover a tool? */
export function matches(pattern: string, toolName: string): boolean {
  const canonical = canonicalTool(pattern)
  if (canonical === '*') return true
  return canonical.endsWith(':*') ? toolName.startsWith(canonical.slice(0, -1)) : canonical === toolName
}
