import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { connection } from '../client/feed.ts'
import { person, signOut } from '../client/session.ts'
import { CopyAs } from '../habits/copy-as.tsx'
import { Help } from '../habits/help.tsx'
import { Palette } from '../habits/palette.tsx'
import { nextZone, zoneName } from '../habits/time-zone.ts'
import { Menu } from '../parts/menu.tsx'
import { printPage } from '../parts/printing.ts'
import { useKeys } from './keyboard-shortcuts.ts'
import { Navigation } from './navigation.tsx'
import { noticesRefused, toggleNotices, wantsNotices } from './notices.ts'
import { go, path } from './router.ts'
import { nextTheme, theme } from './theme.ts'

const CONNECTION = {
  connecting: 'connecting …',
  connected: 'live',
  lost: 'not connected: trying again',
  silent: 'not live: looked up now and then',
} as const

/** The frame around every screen. */
export function Shell({ children }: { children: ComponentChildren }) {
  const [open, setOpen] = useState<'palette' | 'help' | 'copy' | null>(null)
  const close = () => setOpen(null)
  const [stays, setStays] = useState(false)
  useKeys({ '?': () => setOpen('help'), y: () => setOpen('copy') })
  useLayoutEffect(() => {
    const hear = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      const act = { k: () => setOpen('palette'), p: printPage }[event.key.toLowerCase()]
      if (act === undefined) return
      event.preventDefault()
      void act()
    }
    addEventListener('keydown', hear)
    return () => removeEventListener('keydown', hear)
  }, [])
  return (
    <>
      <a class="skip" href="#content">
        To the content
      </a>
      <header class="top">
        <a class="brand" href="/">
          keepup
        </a>
        <Navigation />
        <span class={`connection ${connection.value}`} role="status">
          {CONNECTION[connection.value]}
        </span>
        <button type="button" class="plain" onClick={() => setOpen('palette')} aria-keyshortcuts="Control+K">
          Find
        </button>
        <Menu label={<bdi class="person">{person()}</bdi>} end>
          <button type="button" class="plain" onClick={() => setOpen('copy')} aria-keyshortcuts="y">
            Copy as …
          </button>
          <button type="button" class="plain" onClick={() => setOpen('help')} aria-keyshortcuts="?">
            Help
          </button>
          <button type="button" class="plain" onClick={() => void printPage()} aria-keyshortcuts="Control+P">
            Print
          </button>
          <NoticesButton />
          <button type="button" class="plain" onClick={nextZone} aria-label={`Times: ${zoneName()}. Change it`}>
            Times: {zoneName()}
          </button>
          <button type="button" class="plain" onClick={nextTheme} aria-label={`Theme: ${theme.value}. Change it`}>
            Theme: {theme.value}
          </button>
          <button type="button" class="plain" onClick={() => signOut().catch(() => setStays(true))}>
            {stays ? 'Not signed out: try again' : 'Sign out'}
          </button>
        </Menu>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      {open === 'palette' && <Palette onClose={close} open={setOpen} />}
      {open === 'help' && <Help onClose={close} />}
      {open === 'copy' && <CopyAs onClose={close} />}
    </>
  )
}

/** Turns the browser's notices of new questions on and off. */
function NoticesButton() {
  const [refused, setRefused] = useState('')
  const state = wantsNotices.value ? 'on' : 'off'
  return (
    <button
      type="button"
      class="plain"
      aria-label={`Notices of questions: ${state}. Change it`}
      onClick={() => void toggleNotices().then(() => setRefused(noticesRefused()))}
    >
      {refused === '' ? `Notices of questions: ${state}` : `Notices: ${refused}`}
    </button>
  )
}

/** A notice for an empty place or an error. */
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
