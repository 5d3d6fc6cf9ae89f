import { useState } from 'preact/hooks'

/** Copies a text to the clipboard and says so. `class`: of the button. */
export function CopyButton({ text, title, ...look }: { text: string; title: string; class?: string }) {
  const [said, setSaid] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('copied')
    } catch {
      // The browser refuses access to the clipboard without a secure origin or the permission.
      setSaid('select the text and copy it')
    }
  }
  return (
    <>
      <button type="button" onClick={() => void copy()} {...look}>
        {title}
      </button>{' '}
      <span role="status">{said}</span>
    </>
  )
}
