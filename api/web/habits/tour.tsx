import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { stored } from '../parts/stored.ts'

interface Step {
  readonly title: string
  readonly text: ComponentChildren
  readonly to: readonly [href: string, title: string]
}

const STEPS: readonly Step[] = [
  {
    title: 'A run is a log of events',
    text: 'A run is an agent at work on a task. Each turn, tool call and decision is an event in a log, so you can replay the run, compare it with another one, and fork it at any step.',
    to: ['/start', 'Start a run'],
  },
  {
    title: 'An agent asks you in the inbox',
    text: 'A run that needs an approval or an answer waits, first in this list. The inbox has the questions of all runs, and the title of the window counts them.',
    to: ['/inbox', 'Open the inbox'],
  },
  {
    title: 'The log proves what happened',
    text: 'Each event contains the hash of the event before it, so a changed or missing event is found. Anchors outside this computer also prove the end of the log.',
    to: ['/proof', 'See the proof'],
  },
]

/** Whether the visitor has ended the tour. */
const hasEnded = stored('keepup-tour-ended', (found) => found === true)
const at = signal(0)
/** A person asked for the tour, and it has not taken the focus yet. */
const isAsked = signal(false)

/** Shows the tour again, from its first step. */
export function restartTour(): void {
  at.value = 0
  isAsked.value = true
  hasEnded.value = false
}

/** Introduces runs, questions and proofs to a new visitor, until they end it. */
export function Tour() {
  const box = useRef<HTMLElement>(null)
  // A tour that a person asked for takes the focus; the first one leaves it where it is.
  useEffect(() => {
    if (!isAsked.value || box.current === null) return
    box.current.focus()
    isAsked.value = false
  }, [isAsked.value, hasEnded.value])
  if (hasEnded.value) return null
  const step = STEPS[at.value]!
  const isLast = at.value === STEPS.length - 1
  const end = () => {
    hasEnded.value = true
    document.getElementById('content')?.focus()
  }
  return (
    <section
      ref={box}
      class="tour"
      aria-label="Tour"
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.preventDefault()
        end()
      }}
    >
      <div aria-live="polite">
        <h2>
          {step.title}{' '}
          <span class="quiet">
            {at.value + 1} of {STEPS.length}
          </span>
        </h2>
        <p>
          {step.text} <a href={step.to[0]}>{step.to[1]}</a>
        </p>
      </div>
      <p class="row">
        <button type="button" class="main" onClick={() => (isLast ? end() : at.value++)}>
          {isLast ? 'Done' : 'Next'}
        </button>
        <button type="button" disabled={at.value === 0} onClick={() => at.value--}>
          Back
        </button>
        {!isLast && (
          <button type="button" onClick={end}>
            End the tour
          </button>
        )}
      </p>
    </section>
  )
}
