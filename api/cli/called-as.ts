/**
 * The name under which a person can call this program again: by npx in a clone, whose sources run as they are, and
 * wherever npx or an npm script started it; by its own name where it is installed.
 */
export function calledAs(env: Readonly<Record<string, string | undefined>>, module: string): string {
  return module.endsWith('.ts') || env.npm_command !== undefined ? 'npx keepup' : 'keepup'
}
