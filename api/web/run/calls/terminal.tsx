import { visible } from '../../../operations/text/visible-text.ts'
import { AnsiText } from '../../parts/code/ansi-text.tsx'
import { shown } from '../../parts/shown.ts'
import { type Arguments, textOrEmpty } from './call-text.ts'

/** A command as a terminal shows it. `cwd` empty: the workspace itself. `result` empty: the command has not ended. */
export function Terminal({ command, cwd, result }: { command: string; cwd: string; result: Arguments }) {
  const { exitCode, signal, stdout, stderr } = result
  const isBad = exitCode !== undefined && exitCode !== 0
  return (
    <div class="terminal mono">
      <div>
        <span class="quiet">{cwd !== '' && <bdi>{shown(cwd)} </bdi>}$ </span>
        {/* Shows escape sequences too, because the shell gets them. */}
        <bdi class="foreign">{visible(command)}</bdi>
      </div>
      {textOrEmpty(stdout) !== '' && <AnsiText text={textOrEmpty(stdout)} />}
      {textOrEmpty(stderr) !== '' && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame
        <div role="group" aria-label="stderr" class="stderr">
          <AnsiText text={textOrEmpty(stderr)} />
        </div>
      )}
      {exitCode !== undefined && (
        <div class={isBad ? 'bad' : 'quiet'}>
          {exitCode === null ? `ended by ${shown(textOrEmpty(signal))}` : `exit ${String(exitCode)}`}
        </div>
      )}
    </div>
  )
}
