import type { ComponentChildren } from 'preact'
import { connection } from '../client/feed.ts'
import { person } from '../client/session.ts'
import { go, path } from './router.ts'
import { nextTheme, theme } from './theme.ts'
import { waitingForPeople } from './waiting-count.ts'

const SCREENS = [
  ['/', 'Runs'],
  ['/inbox', 'Inbox'],
  ['/documents', 'Documents'],
  ['/compare', 'Compare'],
  ['/start', 'Start'],
] as const

const CONNECTION = { connecting: 'connecting …', connected: 'live', lost: 'not connected: trying again' } as const

/** What stands around every screen. */
export function Shell({ children }: { children: ComponentChildren }) {
  const asks = waitingForPeople.value
  return (
    <>
      <a class="skip" href="#content">
        To the content
      </a>
      <header class="top">
        <a class="brand" href="/">
          keepup
        </a>
        <nav aria-label="Screens">
          {SCREENS.map(([to, name]) => (
            <a key={to} href={to} aria-current={path.value === to ? 'page' : undefined}>
              {name}
              {to === '/inbox' && asks > 0 && <span class="badge">{asks}</span>}
            </a>
          ))}
        </nav>
        <span class={`connection ${connection.value}`} role="status">
          {CONNECTION[connection.value]}
        </span>
        <span class="quiet person">{person()}</span>
        <button type="button" class="plain" onClick={nextTheme} aria-label={`Theme: ${theme.value}. Change it`}>
          {theme.value}
        </button>
      </header>
      <main id="content">{children}</main>
    </>
  )
}

/** What a place shows where there is nothing, or something is wrong. */
export function Notice({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="notice">
      <h1>{title}</h1>
      {children}
      {path.value !== '/' && (
        <p>
          <button type="button" onClick={() => go('/')}>
            All runs
          </button>
        </p>
      )}
    </div>
  )
}
