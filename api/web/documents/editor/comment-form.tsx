import { useId } from 'preact/hooks'
import { asOne, take } from '../../../http/answers.ts'
import { busy, run } from '../../actions/command.ts'
import { api } from '../../client/api.ts'
import { person } from '../../client/session.ts'
import { Foreign } from '../../parts/text.tsx'
import { type Asking, presentText } from './asking.ts'
import type { SharedDocument } from './shared-document.ts'

interface Props {
  readonly documentId: string
  readonly shared: SharedDocument
  readonly asking: Asking
  readonly onDone: () => void
}

/** The form of a new comment or suggestion. Escape closes it. */
export function CommentForm({ documentId, shared, asking, onDone }: Props) {
  const id = useId()
  const { kind, selected } = asking
  const isComment = kind === 'comment'
  const send = async (event: Event) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const [text, reason] = [String(form.get('text')), String(form.get('reason') ?? '').trim()]
    const { comments, suggestions } = api.v1.documents[':id']
    const asked = { param: { id: documentId }, header: asOne() }
    const done = await run(isComment ? 'Commented.' : 'Suggested.', async () => {
      // The server must have the quoted text first.
      await shared.settled()
      const about = { ...presentText(shared, asking), by: person() }
      if (isComment) await take(comments.$post({ ...asked, json: { ...about, text } }))
      else {
        const json = { ...about, replacement: text, ...(reason === '' ? {} : { reason }) }
        await take(suggestions.$post({ ...asked, json }))
      }
    })
    if (done) onDone()
  }
  return (
    <form
      class="comment-form"
      aria-label={isComment ? 'New comment' : 'New suggestion'}
      onSubmit={send}
      onKeyDown={(event) => event.key === 'Escape' && onDone()}
    >
      <blockquote>
        <Foreign text={selected.quote} />
      </blockquote>
      <label for={id}>{isComment ? 'Comment' : 'Text in its place; empty: delete it'}</label>
      <textarea
        id={id}
        dir="auto"
        name="text"
        required={isComment}
        maxLength={20_000}
        defaultValue={isComment ? '' : selected.quote}
        // biome-ignore lint/a11y/noAutofocus: the person asked for this field
        autoFocus
      />
      {!isComment && (
        <input name="reason" dir="auto" aria-label="Reason" placeholder="Reason (optional)" maxLength={2000} />
      )}
      <div class="pair">
        <button type="submit" class="main" disabled={busy.value}>
          {isComment ? 'Comment' : 'Suggest'}
        </button>
        <button type="button" onClick={onDone}>
          Back
        </button>
      </div>
    </form>
  )
}
