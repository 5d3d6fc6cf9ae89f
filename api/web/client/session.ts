import { signal } from '@preact/signals'

/** The script's half of a session. The other half is a cookie that scripts cannot read. */
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

// Another tab started a session or ended the shared one.
addEventListener('storage', ({ key }) => (key === PLACE || key === null) && take(read()))

/** Why there is no session. Null: there is one, or the page has not tried to get one. */
export const sessionRefusal = signal<string | null>(null)

/** The name that this person's commands record. */
export const person = (): string => session.value?.by ?? 'anonymous'

/**
 * Call when the server rejects the session of a key. If another tab has started a newer session, this tab takes that
 * one.
 */
export function expired(key: string): void {
  if (read()?.key === key) localStorage.removeItem(PLACE)
  take(read())
}

/** Exchanges the code of a link for a session, and removes the code from the URL first. */
export async function exchangeCode(): Promise<void> {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1]
  if (code === undefined) return
  history.replaceState(null, '', location.pathname + location.search)
  const answer = await fetch('/v1/session', { method: 'POST', headers: { authorization: `Keepup-Code ${code}` } })
  const body = (await answer.json()) as { key: string; by: string | null; detail?: string }
  if (!answer.ok) {
    sessionRefusal.value = body.detail ?? `the server answered ${answer.status}`
    return
  }
  const kept = { key: body.key, by: body.by }
  localStorage.setItem(PLACE, JSON.stringify(kept))
  session.value = kept
}
