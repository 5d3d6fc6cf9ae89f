import { go } from '../page/router.ts'
import { nextTheme } from '../page/theme.ts'
import { zone, zonesLike } from './time-zone.ts'

/** An entry of the palette. Entries of one kind are shown together. */
export interface Find {
  readonly kind: FindKind
  readonly title: string
  readonly more?: string
  readonly act: () => void
}

/** Names an entry, also in a later list. */
export const findKey = ({ kind, title, more }: Find): string => `${kind} ${title} ${more}`

export type FindKind = 'Screens and settings' | 'Runs' | 'Events' | 'Files' | 'Documents' | 'People'

/** Opens or closes a dialog. */
export type Open = (what: 'help' | 'copy' | null) => void

const SCREENS: readonly (readonly [title: string, to: string])[] = [
  ['Runs', '/'],
  ['Runs that wait for a person', '/?waiting=people'],
  ['Runs that failed', '/?status=failed'],
  ['Inbox: approvals and questions', '/inbox'],
  ['Documents', '/documents'],
  ['Compare two runs', '/compare'],
  ['Start a run', '/start'],
  ['Numbers: cost and tokens', '/numbers'],
  ['Numbers: calls and times', '/numbers?tab=calls'],
  ['Numbers: routing and health', '/numbers?tab=routing'],
  ['Numbers: runs and recoveries', '/numbers?tab=runs'],
  ['Numbers: budgets', '/numbers?tab=budgets'],
  ['Audit: questions in SQL', '/audit'],
  ['Audit: verify', '/audit?tab=proof'],
  ['Audit: tables', '/audit?tab=tables'],
  ['Audit: the log as it grows', '/audit?tab=log'],
  ['Proof: heads and anchors', '/proof'],
  ['Proof: verify everything', '/proof?tab=verify'],
  ['Proof: how proofs work', '/proof?tab=guide'],
  ['Access: people and services', '/access'],
  ['Access: keys', '/access?tab=keys'],
  ['Access: roles and rules', '/access?tab=rules'],
  ['Access: who did what', '/access?tab=uses'],
  ['Retention: how long texts stay', '/retention'],
  ['Retention: legal holds', '/retention?tab=holds'],
  ['Webhooks and their deliveries', '/webhooks'],
  ['Health of the process and what it needs', '/health'],
  ['View an exported run', '/exported'],
  ['Check a pack', '/pack'],
]

/** The screens and settings of the page that match a text. */
export function findsOf(text: string, open: Open): readonly Find[] {
  const finds: Omit<Find, 'kind'>[] = [
    ...SCREENS.map(([title, to]) => ({ title, act: () => go(to) })),
    { title: 'Copy this view as keepup, curl or link', more: 'y', act: () => open('copy') },
    { title: 'Keys', more: '?', act: () => open('help') },
    { title: 'Change the theme', act: nextTheme },
    { title: 'Times of this computer', act: () => (zone.value = null) },
  ]
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  // Titles that begin with the text come first.
  const rank = (title: string): number => (title.toLowerCase().startsWith(text.trim().toLowerCase()) ? 0 : 1)
  const found = finds
    .filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)))
    .sort((a, b) => rank(a.title) - rank(b.title))
    .map((one): Find => ({ kind: 'Screens and settings', ...one }))
  if (words.length === 0) return found
  const asked = words.filter((word) => !['time', 'times', 'zone'].includes(word)).join(' ')
  const zones = asked === '' ? [] : zonesLike(asked, 5)
  return [
    ...found,
    ...zones.map(
      (name): Find => ({ kind: 'Screens and settings', title: `Times in ${name}`, act: () => (zone.value = name) }),
    ),
  ]
}
