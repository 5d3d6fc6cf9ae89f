import { signal } from '@preact/signals'
import { isTar, openPack } from '../pack/opened-pack.ts'
import { go, path } from '../page/router.ts'
import { type Exported, linesOf, readExport } from './exported.ts'

/** The open export. A reload of the page closes it. */
export const opened = signal<Exported | null>(null)
/** Why a file could not be opened. */
export const notOpened = signal('')

/** Opens a file of `keepup export` on the screen for exports. */
export async function openExport(file: File): Promise<void> {
  notOpened.value = ''
  opened.value = null
  if (path.value !== '/exported') go('/exported')
  try {
    opened.value = await readExport(file.name, linesOf(file))
  } catch (error) {
    notOpened.value = `${file.name} is no exported run: ${(error as Error).message}`
  }
}

/** Opens an export or a pack that a person drops anywhere on the page, and keeps the browser from navigating to it. */
export function takeDrops(): void {
  addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault()
  })
  addEventListener('drop', (event) => {
    const file = event.dataTransfer?.files[0]
    if (file === undefined) return
    event.preventDefault()
    // A folder cannot be read; its export says so.
    void isTar(file).then(
      (isPack) => (isPack ? openPack(file) : openExport(file)),
      () => openExport(file),
    )
  })
}
