/* Writes the completion of one shell from the table of options: `generate bash`, zsh or fish. */
#include <stdio.h>
#include <string.h>

static const struct option {
    const char *name;
    int letter;
    const char *argument, *type, *values, *help;
} options[] = {
#define SEARCH_OPTION(name, letter, argument, type, member, initial, values, help, group)          \
    {name, letter, argument, #type, values, help},
#define MACHINE_OPTION SEARCH_OPTION
#define MACRO_OPTION SEARCH_OPTION
#define COMMAND_OPTION SEARCH_OPTION
#include "../src/options/options.inc"
};

enum { OPTIONS = sizeof options / sizeof *options };

static int takes_path(const struct option *o) {
    return strcmp(o->type, "PATH") == 0;
}

static int may_lack_value(const struct option *o) {
    return o->argument && o->argument[0] == '[';
}

/* Writes text for use between single quotes, with a backslash before the `special` characters. */
static void put_escaped(const char *text, const char *special) {
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", stdout);
        else if (strchr(special, *text))
            putchar('\\');
        putchar(*text);
    }
}

/* Writes a|b as words: a b. */
static void put_words(const char *values) {
    for (; *values; values++)
        putchar(*values == '|' ? ' ' : *values);
}

/* --- bash --- */

static void put_bash_pattern(const struct option *o) {
    if (o->letter)
        printf("-%c | ", o->letter);
    printf("--%s", o->name);
}

static void write_bash(void) {
    fputs("# bash completion of srcfind\n"
          "_srcfind() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} "
          "words=\n"
          "    COMPREPLY=()\n"
          "    if [[ $current == = ]]; then # the = behind a name\n"
          "        current=\n"
          "    elif [[ $previous == = ]]; then # a value behind it\n"
          "        previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    case $previous in\n",
          stdout);
    for (int i = 0; i < OPTIONS; i++) {
        const struct option *o = &options[i];
        if (!o->argument || takes_path(o) || may_lack_value(o))
            continue;
        fputs("    ", stdout);
        put_bash_pattern(o);
        fputs(o->values ? ") words='" : ") return", stdout);
        if (o->values) {
            put_words(o->values);
            putchar('\'');
        }
        fputs(" ;;\n", stdout);
    }
    fputs("    *)\n        if [[ $current == -* ]]; then\n            words='", stdout);
    for (int i = 0; i < OPTIONS; i++)
        printf("%s--%s", i == 0 ? "" : " ", options[i].name);
    fputs("'\n        fi\n        ;;\n    esac\n"
          "    if [[ $words ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
          "    else\n"
          "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
          "    fi\n"
          "}\n"
          "complete -o filenames -F _srcfind srcfind\n",
          stdout);
}

/* --- zsh --- */

static void put_zsh_value(const struct option *o) {
    if (!o->argument)
        return;
    fputs(may_lack_value(o) ? "::" : ":", stdout);
    put_escaped(o->argument, ":[]=");
    putchar(':');
    if (takes_path(o))
        fputs("_files", stdout);
    if (o->values) {
        putchar('(');
        put_words(o->values);
        putchar(')');
    }
}

static void write_zsh(void) {
    fputs("#compdef srcfind\n_arguments -s -S \\\n", stdout);
    for (int i = 0; i < OPTIONS; i++) {
        const struct option *o = &options[i];
        const char *equals = may_lack_value(o) ? "=-" : o->argument ? "=" : "";
        if (o->letter)
            printf("    '(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter,
                   o->argument && !may_lack_value(o) ? "+" : "", o->name, equals);
        else
            printf("    '--%s%s[", o->name, equals);
        put_escaped(o->help, ":[]");
        putchar(']');
        put_zsh_value(o);
        fputs("' \\\n", stdout);
    }
    fputs("    '*:image:_files -g \"*.(fits|fit|fts|FITS)(|.gz|.fz)(-.)\"'\n", stdout);
}

/* --- fish --- */

static void write_fish(void) {
    fputs("# fish completion of srcfind\n", stdout);
    for (int i = 0; i < OPTIONS; i++) {
        const struct option *o = &options[i];
        printf("complete -c srcfind -l %s", o->name);
        if (o->letter)
            printf(" -s %c", o->letter);
        if (takes_path(o))
            fputs(" -r", stdout);
        else if (o->argument && !may_lack_value(o))
            fputs(" -x", stdout);
        if (o->values && o->argument) {
            fputs(" -a '", stdout);
            put_words(o->values);
            putchar('\'');
        }
        fputs(" -d '", stdout);
        put_escaped(o->help, "\\");
        fputs("'\n", stdout);
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *shell;
        void (*write)(void);
    } shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
    for (int i = 0; i < 3; i++) {
        if (argc == 2 && strcmp(argv[1], shells[i].shell) == 0) {
            shells[i].write();
            return fflush(stdout) == 0 ? 0 : 1;
        }
    }
    fputs("usage: generate bash|zsh|fish\n", stderr);
    return 2;
}
