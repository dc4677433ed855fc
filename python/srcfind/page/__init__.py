"""srcfind-page: a catalogue, or the report of a batch, as a page for people.

_command.py   the command line
_read.py      reads catalogues, and checks them
_numbers.py   numbers for reading: with errors, and in units that make them short
_plots.py     plots in SVG: axes, points, steps
_page.py      what a page is made of: sections, figures, tables; and the file
_figures.py   the plots of a catalogue
_maps.py      the picture and the map of the rms
_catalogue.py the page of a catalogue; _display.py says how its table shows each column
_comparison.py
              a catalogue beside a reference, which _reference.py reads; _match.py matches positions
_night.py     the page of a report, from _report.py, _catalogues.py, _nights.py, _statistics.py and
              _overlaps.py, with the plots of _night_figures.py and _skymap.py
templates/    their HTML, style and script
"""
