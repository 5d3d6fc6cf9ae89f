import { signal } from '@preact/signals'
import { number } from '../parts/format.ts'
import { Menu } from '../parts/menu.tsx'
import { path } from './router.ts'
import { waitingForPeople } from './waiting.ts'

type Link = readonly [to: string, name: string]

const DAILY: readonly Link[] = [
  ['/', 'Runs'],
  ['/inbox', 'Inbox'],
  ['/start', 'Start'],
  ['/compare', 'Compare'],
  ['/documents', 'Documents'],
  ['/numbers', 'Numbers'],
]
const OVERSIGHT: readonly Link[] = [
  ['/audit', 'Audit'],
  ['/proof', 'Proof'],
  ['/access', 'Access'],
  ['/retention', 'Retention'],
  ['/webhooks', 'Webhooks'],
  ['/health', 'Health'],
]

/** As in layout.css. */
const narrow = matchMedia('(max-width: 760px)')
const isNarrow = signal(narrow.matches)
narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches
})

const Links = ({ links }: { links: readonly Link[] }) =>
  links.map(([to, name]) => (
    <a key={to} href={to} aria-current={path.value === to ? 'page' : undefined}>
      {name}
      {to === '/inbox' && <Asks />}
    </a>
  ))

const Asks = () => (waitingForPeople.value > 0 ? <span class="badge">{number(waitingForPeople.value)}</span> : null)

/** The links to the screens: in one line, or in one menu on a narrow page. */
export function Navigation() {
  const here = (links: readonly Link[]) => links.find(([to]) => to === path.value)?.[1]
  const below = here(OVERSIGHT)
  return (
    <nav aria-label="Screens">
      {isNarrow.value ? (
        <Menu
          label={
            <>
              {here(DAILY) ?? below ?? 'Screens'}
              <Asks />
            </>
          }
        >
          <Links links={DAILY} />
          <Links links={OVERSIGHT} />
        </Menu>
      ) : (
        <>
          <Links links={DAILY} />
          <Menu class={below === undefined ? '' : 'current'} label={below ?? 'Oversight'}>
            <Links links={OVERSIGHT} />
          </Menu>
        </>
      )}
    </nav>
  )
}
