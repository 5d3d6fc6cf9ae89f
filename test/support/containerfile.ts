import { DockerfileParser } from 'dockerfile-ast'

/** An instruction of a Containerfile, with its arguments on one line. */
export interface Step {
  readonly keyword: string
  readonly text: string
}

/** The instructions of a Containerfile, without comments. */
export const stepsOf = (containerfile: string): Step[] =>
  DockerfileParser.parse(containerfile)
    .getInstructions()
    .map((one) => ({
      keyword: one.getKeyword(),
      text: (one.getArgumentsContent() ?? '')
        .replaceAll(/\\\n\s*/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    }))
