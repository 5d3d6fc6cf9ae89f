import { signal } from '@preact/signals'

/** The page's half of a session; the cookie, which no script can read, is the other. */
interface Kept {
  readonly key: string
  readonly by: string | null
}

const PLACE = 'keepup-session'

function read(): Kept | null {
  try {
    return JSON.parse(localStorage.getItem(PLACE) ?? 'null') as Kept | null
  } catch {
    return null
  }
}

export const session = signal<Kept | null>(read())

function take(kept: Kept | null): void {
  if (kept?.key !== session.value?.key) session.value = kept
}

// Another tab has begun a session, or ended the one of both.
addEventListener('storage', ({ key }) => (key === PLACE || key === null) && take(read()))

/** Why there is no session; null: there is one, or none was tried. */
export const refusal = signal<string | null>(null)

/** The name under which this person acts. */
export const person = (): string => session.value?.by ?? 'anonymous'

/** Called where the server no longer takes the session of a key. One that another tab has begun since takes its place. */
export function expired(key: string): void {
  if (read()?.key === key) localStorage.removeItem(PLACE)
  take(read())
}

/** Exchanges the code of a link, which is taken out of the address at once. */
export async function exchangeCode(): Promise<void> {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1]
  if (code === undefined) return
  history.replaceState(null, '', location.pathname + location.search)
  const answer = await fetch('/v1/session', { method: 'POST', headers: { authorization: `Keepup-Code ${code}` } })
  const body = (await answer.json()) as { key: string; by: string | null; detail?: string }
  if (!answer.ok) {
    refusal.value = body.detail ?? `the server answered ${answer.status}`
    return
  }
  const kept = { key: body.key, by: body.by }
  localStorage.setItem(PLACE, JSON.stringify(kept))
  session.value = kept
}
