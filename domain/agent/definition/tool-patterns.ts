// Patterns of tool names, as policies, roles and delegations write them: `tool`, `server:*` and `*`.

const ALIASES: Readonly<Record<string, string>> = { file_write: 'write_file' }

/** The name that the log uses for a tool that a policy may name otherwise. */
export const canonicalTool = (name: string): string => ALIASES[name] ?? name

/** Does a pattern cover a tool? */
export function matches(pattern: string, toolName: string): boolean {
  const canonical = canonicalTool(pattern)
  if (canonical === '*') return true
  return canonical.endsWith(':*') ? toolName.startsWith(canonical.slice(0, -1)) : canonical === toolName
}

export const covers = (patterns: readonly string[], toolName: string): boolean =>
  patterns.some((pattern) => matches(pattern, toolName))

/** Tools that wait for a person in interactive mode: they change what other people work with. */
const SENSITIVE: readonly string[] = ['write_file', 'run_command', 'create_document', 'edit_document']

/** Does this mode ask a person before each call of the tool, whatever the policy names? */
export const asksInMode = (mode: 'interactive' | 'batch', toolName: string): boolean =>
  mode === 'interactive' && SENSITIVE.includes(toolName)
