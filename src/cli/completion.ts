import { WindrowError } from '../core/errors.js';
import { zoneNames } from '../core/zone.js';
import type { Command, CommandGroup, CommandOption } from './command.js';
import { argumentOf } from './command.js';
import type { Commands } from './command-line.js';
import { EXIT_DONE } from './failure.js';

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** The command that prints a shell's completions of these commands. */
export function completionOf(commands: Commands): Command {
  const completion: Command = {
    name: 'completion',
    summary: 'Print a shell script that completes commands, options and names.',
    argument: { name: 'SHELL', summary: Object.keys(SHELLS).join(', '), values: Object.keys(SHELLS) },
    options: [],
    examples: [
      { line: 'source <(windrow completion bash)', does: 'in ~/.bashrc' },
      { line: 'source <(windrow completion zsh)', does: 'in ~/.zshrc, after compinit' },
      { line: 'windrow completion fish > ~/.config/fish/completions/windrow.fish', does: 'once, for fish' },
    ],
    act: async (given, io) => {
      const shell = argumentOf(given, completion);
      if (!Object.hasOwn(SHELLS, shell)) {
        const expected = `one of ${Object.keys(SHELLS).join(', ')}`;
        throw new WindrowError('arguments', `completion: expected ${expected}, received ${JSON.stringify(shell)}`);
      }
      const loaded = await Promise.all(Object.values(commands).map((load) => load()));
      // `as`: one of the keys, by the test above.
      await io.stdout.write(SHELLS[shell as keyof typeof SHELLS](loaded));
      return EXIT_DONE;
    },
  };
  return completion;
}

type Entry = Command | CommandGroup;

/** All commands, including those of groups. */
function commandsOf(entries: readonly Entry[]): Command[] {
  return entries.flatMap((entry) => ('commands' in entry ? entry.commands : [entry]));
}

/** What may follow an option; of texts that only the caller knows, nothing. */
function valuesOf({ value = '', values }: CommandOption): readonly string[] | 'zones' | 'files' {
  if (values !== undefined) return values;
  return value === 'ZONE' ? 'zones' : /^(FILE|DIR)/.test(value) ? 'files' : [];
}

const flagsOf = ({ options }: Command): string[] => [...options.map(({ flag }) => flag), '--help'];

/** `'it'\''s'`, for bash and zsh; fish takes it too. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function bashScript(entries: readonly Entry[]): string {
  const cases = commandsOf(entries).flatMap((command) => {
    const valued = command.options.flatMap((option) => {
      const values = valuesOf(option);
      if (option.value === undefined || values === 'files') return [];
      const words = values === 'zones' ? '$zones' : quoted(values.join(' '));
      return [`        ${option.flag}) words=${words}; only=1 ;;`];
    });
    return [
      `    ${quoted(command.name)})`,
      ...(valued.length === 0 ? [] : ['      case "$previous" in', ...valued, '      esac']),
      `      flags=${quoted(flagsOf(command).join(' '))}`,
      ...(command.argument?.values ? [`      names=${quoted(command.argument.values.join(' '))}`] : []),
      '      ;;',
    ];
  });
  const groups = entries.flatMap((entry) => {
    if (!('commands' in entry)) return [];
    const names = entry.commands.map(({ name }) => name.split(' ').at(-1));
    const isFirst = '[ "$COMP_CWORD" -eq 2 ]';
    const whole = `command="$command \${COMP_WORDS[2]}"`;
    return [`    ${entry.name}) ${isFirst} && words=${quoted(names.join(' '))} && only=1; ${whole} ;;`];
  });
  const names = entries.map(({ name }) => name);
  return `# bash completion of windrow: source <(windrow completion bash)
_windrow() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local command=\${COMP_WORDS[1]} words= flags= names= only=
  local zones=${quoted(zoneNames().join(' '))}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quoted([...names, 'help', '--help', '--version'].join(' '))} -- "$current"))
    return
  fi
  case "$command" in
${groups.join('\n')}
    help) words=${quoted(names.join(' '))}; only=1 ;;
  esac
  case "$command" in
${cases.join('\n')}
  esac
  if [ -n "$only" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  elif [ "\${current#-}" != "$current" ]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [ -n "$names" ] && [ "\${previous#-}" = "$previous" ]; then
    COMPREPLY=($(compgen -W "$names" -- "$current"))
  else
    # A line is a name, which may have spaces.
    local IFS=$'\\n'
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _windrow windrow
`;
}

function zshScript(entries: readonly Entry[]): string {
  const described = (name: string, summary: string): string => quoted(`${name.replaceAll(':', '\\:')}:${summary}`);
  const cases = commandsOf(entries).map((command) => {
    const specs = command.options.map((option) => quoted(zshSpec(option)));
    const { argument } = command;
    const values = argument?.values === undefined ? '_files' : `(${argument.values.join(' ')})`;
    const last = argument === undefined ? [] : [quoted(`1:${zshText(argument.summary)}:${values}`)];
    return `    ${quoted(command.name)}) _arguments ${[...specs, "'--help[print the help]'", ...last].join(' ')} ;;`;
  });
  const groups = entries.flatMap((entry) => {
    if (!('commands' in entry)) return [];
    const names = entry.commands.map(({ name, summary }) => described(name.split(' ').at(-1) ?? '', summary));
    return [
      `    ${entry.name})`,
      `      if (( CURRENT == 3 )); then commands=(${names.join(' ')}); _describe command commands; return; fi`,
      '      command="$command $words[3]"; shift words; (( CURRENT-- )) ;;',
    ];
  });
  return `#compdef windrow
# zsh completion of windrow: source <(windrow completion zsh)
_windrow() {
  local command="$words[2]"
  local -a commands zones=(${zoneNames().join(' ')})
  if (( CURRENT == 2 )); then
    commands=(${entries.map(({ name, summary }) => described(name, summary)).join(' ')})
    _describe command commands
    return
  fi
  case "$command" in
${groups.join('\n')}
  esac
  shift words; (( CURRENT-- ))
  case "$command" in
${cases.join('\n')}
  esac
}
(( $+functions[compdef] )) && compdef _windrow windrow
`;
}

const zshText = (text: string): string => text.replace(/[[\]:\\]/g, '\\$&');

function zshSpec(option: CommandOption): string {
  const { flag, value, summary, isList, isRepeatable } = option;
  const values = valuesOf(option);
  const head = `${isList || isRepeatable ? '*' : ''}${flag}[${zshText(summary)}]`;
  if (value === undefined) return head;
  const offered = values === 'files' ? '_files' : values === 'zones' ? '($zones)' : `(${values.join(' ')})`;
  return `${head}:${value}:${values.length === 0 ? ' ' : offered}`;
}

function fishScript(entries: readonly Entry[]): string {
  const lines = [
    '# fish completion of windrow: windrow completion fish | source',
    `set -g __windrow_zones ${zoneNames().join(' ')}`,
    'complete -c windrow -f',
  ];
  const first = '__fish_use_subcommand';
  for (const entry of entries) {
    lines.push(`complete -c windrow -n ${first} -a ${entry.name} -d ${quoted(entry.summary)}`);
    if (!('commands' in entry)) continue;
    const names = entry.commands.map(({ name }) => name.split(' ').at(-1) ?? '');
    const isFirst = `__fish_seen_subcommand_from ${entry.name}; and not __fish_seen_subcommand_from ${names.join(' ')}`;
    for (const [index, { summary }] of entry.commands.entries()) {
      lines.push(`complete -c windrow -n ${quoted(isFirst)} -a ${names[index]} -d ${quoted(summary)}`);
    }
  }
  for (const command of commandsOf(entries)) {
    const seen = command.name.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
    const condition = quoted(seen.join('; and '));
    for (const option of command.options) {
      const { flag, value, summary } = option;
      const values = valuesOf(option);
      const words = values === 'zones' ? '$__windrow_zones' : values === 'files' ? '' : values.join(' ');
      const takes = value === undefined ? '' : values === 'files' ? ' -r -F' : ` -x -a ${quoted(words)}`;
      lines.push(`complete -c windrow -n ${condition} -l ${flag.slice(2)}${takes} -d ${quoted(summary)}`);
    }
    if (command.argument === undefined) continue;
    const { values, summary } = command.argument;
    const takes = values === undefined ? '-F' : `-a ${quoted(values.join(' '))}`;
    lines.push(`complete -c windrow -n ${condition} ${takes} -d ${quoted(summary)}`);
  }
  return `${lines.join('\n')}\n`;
}
