import { goTo } from './position.ts'

/** As in run.css: below this width the panes of a run are stacked. */
const stacked = matchMedia('(max-width: 900px)')

/** Moves to an event that a person chose, and scrolls to its details where the panes are stacked. */
export function openEvent(revision: number): void {
  goTo(revision)
  showDetail()
}

/** Scrolls to the details of the event at the position where the panes are stacked. */
export function showDetail(): void {
  if (stacked.matches) document.querySelector('.pane.detail')?.scrollIntoView({ block: 'start' })
}
