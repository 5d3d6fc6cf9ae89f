import './no-compiling.ts'

import { useEffect, useRef, useState } from 'preact/hooks'
import { toggleMark } from 'prosemirror-commands'
import { redo, undo } from 'prosemirror-history'
import type { EditorState } from 'prosemirror-state'
import type { DocumentComment } from '../../../operations/document/schemas.ts'
import { errorText } from '../../client/api.ts'
import { shown } from '../../parts/shown.ts'
import { type Asking, askAbout } from './asking.ts'
import { characterAtCaret } from './caret.ts'
import { CommentForm } from './comment-form.tsx'
import { colourOf } from './cursors.ts'
import { selectedText } from './marked-comments.ts'
import { schema } from './schema.ts'
import { SharedDocument } from './shared-document.ts'
import { setKind, TextEditor } from './text-editor.ts'

/** Types of blocks by the name that people read: the name in the model, and attributes. */
const KINDS = {
  Text: ['paragraph', {}],
  'Heading 1': ['heading', { level: 1 }],
  'Heading 2': ['heading', { level: 2 }],
  'Heading 3': ['heading', { level: 3 }],
  List: ['list_item', { ordered: false, indent: 0 }],
  'Numbered list': ['list_item', { ordered: true, indent: 0 }],
  Quote: ['quote', {}],
  Code: ['code', { language: null }],
} as const

const MARKS = { bold: 'B', italic: 'I', underline: 'U', strike: 'S', inline_code: '<>' } as const

const SAVING = {
  saved: 'saved',
  saving: 'saving …',
  away: 'not saved: the server does not answer; the page tries again',
  refused: 'not saved',
} as const

interface Props {
  readonly documentId: string
  readonly label: string
  /** The open comments, which the text shows. */
  readonly comments: readonly DocumentComment[]
  readonly chosen: string | null
  readonly onChoose: (id: string) => void
}

/** The editor of a document. Several people may write at the same time. */
export function Editor({ documentId, ...props }: Props) {
  const [opened, setOpened] = useState<SharedDocument | string | null>(null)
  const [round, setRound] = useState(0)
  useEffect(() => {
    let over = false
    let document: SharedDocument | null = null
    setOpened(null)
    SharedDocument.open(documentId).then(
      (found) => {
        document = found
        if (over) found.end()
        else setOpened(found)
      },
      (error: unknown) => over || setOpened(errorText(error)),
    )
    return () => {
      over = true
      document?.end()
    }
  }, [documentId, round])
  if (opened === null) return <p class="quiet">loading …</p>
  if (typeof opened === 'string')
    return (
      <p class="fault" role="alert">
        {opened}
      </p>
    )
  return <Opened {...props} documentId={documentId} shared={opened} onReload={() => setRound((n) => n + 1)} />
}

interface OpenedProps extends Props {
  readonly shared: SharedDocument
  readonly onReload: () => void
}

function Opened({ documentId, shared, label, comments, chosen, onChoose, onReload }: OpenedProps) {
  const place = useRef<HTMLDivElement>(null)
  const [editor, setEditor] = useState<TextEditor | null>(null)
  const [, changed] = useState(0)
  const [refused, setRefused] = useState('')
  const [asking, setAsking] = useState<Asking | null>(null)
  const asks = useRef({ onChoose, ask: (_: Asking['kind']): void => undefined })
  asks.current.onChoose = onChoose
  asks.current.ask = (kind) => {
    const selected = editor === null ? null : selectedText(editor.view.state)
    const about = selected === null ? null : askAbout(shared, kind, selected)
    if (about !== null) setAsking(about)
    else setRefused('select a text within one paragraph or cell to comment on it')
  }
  useEffect(() => {
    const made = new TextEditor(place.current!, {
      blocks: shared.blocks,
      label,
      write: (blocks) => shared.write(blocks),
      moved: (at) => shared.at(at),
      refused: setRefused,
      chosen: (id) => asks.current.onChoose(id),
      comment: () => asks.current.ask('comment'),
      changed: () => changed((n) => n + 1),
    })
    shared.characterAtCaret = () => characterAtCaret(made.view.state)
    shared.onChange = (blocks, caret) => made.show(blocks, caret)
    const stop = shared.people.subscribe((people) => made.people(people))
    setEditor(made)
    // A person who opens the editor can type at once.
    made.view.focus()
    return () => {
      stop()
      shared.characterAtCaret = () => null
      shared.onChange = () => undefined
      made.end()
    }
  }, [shared, label])
  useEffect(() => {
    const marked = comments.flatMap(({ id, kind, span_id: spanId, anchor }) => {
      const range = shared.range(spanId, anchor)
      return range === null ? [] : [{ id, kind, spanId, start: range.start, end: range.end, isChosen: id === chosen }]
    })
    editor?.comments(marked)
  }, [editor, shared, comments, chosen])
  const saving = shared.saving.value
  return (
    <div class="editor">
      {editor !== null && (
        <Toolbar
          editor={editor}
          state={editor.view.state}
          onAsk={(kind) => {
            setRefused('')
            asks.current.ask(kind)
          }}
        />
      )}
      {asking !== null && (
        <CommentForm
          documentId={documentId}
          shared={shared}
          asking={asking}
          onDone={() => {
            setAsking(null)
            editor?.view.focus()
          }}
        />
      )}
      <p class="editor-state">
        <span role="status" class={saving === 'away' || saving === 'refused' ? 'bad' : 'quiet'}>
          {SAVING[saving]}
        </span>
        {shared.people.value.map(({ client, name }) => (
          <span key={client} class={`badge person-${colourOf(client)}`}>
            <bdi>{shown(name)}</bdi>
          </span>
        ))}
      </p>
      {refused !== '' && (
        <p role="alert" class="fault">
          {refused}
        </p>
      )}
      {saving === 'refused' && (
        <div role="alert" class="fault">
          <p>
            <bdi>{shown(shared.fault.value)}</bdi>
          </p>
          <p>Copy what you want to keep, then read the document again.</p>
          <button
            type="button"
            onClick={() => {
              shared.discard()
              onReload()
            }}
          >
            Read it again without this change
          </button>
        </div>
      )}
      <div ref={place} />
    </div>
  )
}

interface ToolbarProps {
  readonly editor: TextEditor
  readonly state: EditorState
  readonly onAsk: (kind: Asking['kind']) => void
}

function Toolbar({ editor, state, onAsk }: ToolbarProps) {
  const [linking, setLinking] = useState(false)
  const { $from, from, to, empty } = state.selection
  const { type, attrs } = $from.parent
  const kind = Object.entries(KINDS).find(
    ([, [name, wanted]]) =>
      name === type.name && Object.entries(wanted).every(([key, value]) => key === 'indent' || attrs[key] === value),
  )?.[0]
  const isOn = (name: keyof typeof MARKS | 'link') => {
    const mark = schema.marks[name]
    return empty
      ? mark.isInSet(state.storedMarks ?? $from.marks()) !== undefined
      : state.doc.rangeHasMark(from, to, mark)
  }
  const link = (event: Event) => {
    event.preventDefault()
    const href = String(new FormData(event.currentTarget as HTMLFormElement).get('href')).trim()
    setLinking(false)
    editor.run((at, dispatch) => {
      const tr = at.tr.removeMark(from, to, schema.marks.link)
      dispatch?.(href === '' ? tr : tr.addMark(from, to, schema.marks.link.create({ link: { href } })))
      return true
    })
  }
  return (
    <div class="toolbar" role="toolbar" aria-label="Text">
      <select
        aria-label="Kind of paragraph"
        value={kind ?? ''}
        onChange={(event) => {
          const chosen = KINDS[event.currentTarget.value as keyof typeof KINDS]
          if (chosen !== undefined) editor.run(setKind(chosen[0], chosen[1]))
        }}
      >
        {kind === undefined && <option value="">{type.name}</option>}
        {Object.keys(KINDS).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      {Object.entries(MARKS).map(([name, letter]) => (
        <button
          key={name}
          type="button"
          class={`mark-${name}`}
          aria-label={name.replace('_', ' ')}
          aria-pressed={isOn(name as keyof typeof MARKS)}
          onClick={() => editor.run(toggleMark(schema.marks[name as keyof typeof MARKS]))}
        >
          {letter}
        </button>
      ))}
      <button type="button" aria-pressed={isOn('link')} disabled={empty} onClick={() => setLinking(!linking)}>
        link
      </button>
      <button type="button" disabled={empty} onClick={() => onAsk('comment')}>
        Comment
      </button>
      <button type="button" disabled={empty} onClick={() => onAsk('suggestion')}>
        Suggest
      </button>
      <button type="button" disabled={!undo(state)} onClick={() => editor.run(undo)}>
        undo
      </button>
      <button type="button" disabled={!redo(state)} onClick={() => editor.run(redo)}>
        redo
      </button>
      {linking && (
        <form onSubmit={link}>
          {/* biome-ignore lint/a11y/noAutofocus: the person asked for this field */}
          <input name="href" aria-label="Address of the link; empty: no link" placeholder="https://…" autoFocus />
          <button type="submit">Set</button>
        </form>
      )}
    </div>
  )
}
