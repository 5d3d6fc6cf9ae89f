import { busy } from '../actions/command.ts'

/** The buttons of a form in a dialog: the one that sends it, and Cancel. */
export const DialogButtons = ({ title, onClose }: { title: string; onClose: () => void }) => (
  <span class="row">
    <button type="submit" class="main" disabled={busy.value}>
      {title}
    </button>
    <button type="button" onClick={onClose}>
      Cancel
    </button>
  </span>
)
