/** argv of a simple shell command; null where it is more than that. */
export function parseCommand(command: string): string[] | null {
  return /^[\w ./:=@,-]+$/.test(command) ? command.trim().split(/\s+/) : null
}
