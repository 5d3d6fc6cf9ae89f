import { go } from '../page/router.ts'
import { Dialog } from './dialog.tsx'
import { restartTour } from './tour.tsx'

type Lines = readonly (readonly [keys: string, what: string])[]

const EVERYWHERE: Lines = [
  ['Ctrl K', 'find a screen, run, event, file, document or person'],
  ['Ctrl P', 'print the whole run or list, not only what is in view'],
  ['?', 'this help'],
  ['y', 'copy this view as a command, as curl or as a link'],
  ['/', 'look for a text in runs'],
  ['Escape', 'close, or leave a field'],
]
const LISTS: Lines = [
  ['j, k', 'the next, the one before: in lists, the inbox, comparisons, documents and the log'],
  ['Enter', 'open it'],
  ['x', 'choose a run, for actions on several'],
  ['c', 'mark a run; on another one: compare'],
  ['Home, End', 'the first, the last'],
]
const RUN: Lines = [
  ['← →', 'a step back, a step on'],
  ['Shift ← →', 'a turn back, a turn on'],
  [', .', 'an event back, an event on'],
  ['p', 'play, stop'],
  ['g', 'type a position: 120, s12, t4, end'],
  ['v', 'the next view of the timeline'],
  ['a, r', 'approve; reject with a reason'],
  ['i, f', 'say something; fork'],
]
const AUDIT: Lines = [['Ctrl Enter', 'ask the question in the field']]

const Keys = ({ title, lines }: { title: string; lines: Lines }) => (
  <section>
    <h2>{title}</h2>
    <dl class="keys">
      {lines.map(([keys, what]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  </section>
)

/** The list of all keyboard shortcuts. */
export const Help = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Keys" onClose={onClose}>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
    <div class="help" tabIndex={0}>
      <Keys title="Everywhere" lines={EVERYWHERE} />
      <Keys title="Lists" lines={LISTS} />
      <Keys title="A run" lines={RUN} />
      <Keys title="Audit" lines={AUDIT} />
      <p>
        <a href="/docs/" target="_blank" rel="noopener">
          The documents of keepup
        </a>
        : tutorial, how-to, reference
      </p>
      <p class="quiet">
        Drop the file of <code>keepup export RUN</code> on the page to view its events, or a pack to check it; nothing
        of it is sent anywhere.
      </p>
    </div>
    <p class="row">
      <button type="button" class="main" onClick={onClose}>
        Close
      </button>
      <button
        type="button"
        onClick={() => {
          onClose()
          restartTour()
          go('/')
        }}
      >
        Show the tour
      </button>
    </p>
  </Dialog>
)
