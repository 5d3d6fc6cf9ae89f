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
  ['/documents', 'Documents'],
  ['/numbers', 'Numbers'],
  ['/compare', 'Compare'],
]
/** The number of daily links outside the menu on a narrow page. */
const IN_SIGHT = 5
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

/** Whether the page shows this screen, or one below it. */
const isAt = (to: string): boolean =>
  to === '/'
    ? path.value === '/' || path.value.startsWith('/runs/')
    : path.value === to || path.value.startsWith(`${to}/`)

const Links = ({ links }: { links: readonly Link[] }) =>
  links.map(([to, name]) => (
    <a key={to} href={to} aria-current={path.value === to ? 'page' : isAt(to) ? 'true' : undefined}>
      {name}
      {to === '/inbox' && <Asks />}
    </a>
  ))

const Asks = () => (waitingForPeople.value > 0 ? <span class="badge">{number(waitingForPeople.value)}</span> : null)

/** The links to the screens: in the head of the page, or at the bottom of a narrow page. The rest is in a menu. */
export function Navigation() {
  const inSight = isNarrow.value ? DAILY.slice(0, IN_SIGHT) : DAILY
  const rest = [...DAILY.slice(inSight.length), ...OVERSIGHT]
  const below = rest.find(([to]) => isAt(to))?.[1]
  return (
    <nav aria-label="Screens">
      <Links links={inSight} />
      <Menu class={below === undefined ? '' : 'current'} label={isNarrow.value ? 'More' : (below ?? 'Oversight')}>
        <Links links={rest} />
      </Menu>
    </nav>
  )
}
