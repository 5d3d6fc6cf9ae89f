import type { ServersConfig } from '../config.ts'

/** The passwords in the connection strings, as they stand there and as they are meant: no run may show them. */
export function passwordsOf({ eventstore, postgres }: ServersConfig): string[] {
  return [eventstore, postgres].flatMap((text) => {
    const password = /^[^/]*\/\/[^/?@:]*:([^/?@]*)@/.exec(text)?.[1] ?? /[?&]password=([^&]*)/.exec(text)?.[1]
    return password === undefined ? [] : [password, decoded(password)]
  })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
